package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"knowledged/service"
)

func newService(g *globals) *cobra.Command {
	c := group(&cobra.Command{
		Use:   "service",
		Short: "Install the daemon as a service, and control it",
		Long: `Under systemd or launchd the daemon starts with the machine, or with --user when you log in, and
again after a crash. The settings of the service are those of its configuration file; install makes
one if there is none.`,
		Example: `  sudo knowledged service install --base /srv/notes && sudo knowledged service start
  knowledged service install --user --base ~/notes && knowledged service start --user
  knowledged service install --dry-run       # what would be written and run
  knowledged service status`,
	})
	c.AddCommand(newServiceInstall(g), newServiceUninstall(g), newServiceStatus(g),
		newServiceControl(g, "start", "Start socket and daemon; returns once lookups are answered", (*service.Config).Start),
		newServiceControl(g, "stop", "Stop daemon and socket", (*service.Config).Stop),
		newServiceControl(g, "restart", "Restart the daemon", (*service.Config).Restart))
	return c
}

// forUser is the flag that all subcommands of service have.
func forUser(c *cobra.Command, user *bool) {
	c.Flags().BoolVar(user, "user", false, "the service of the user who asks, not of the machine")
}

func newServiceInstall(g *globals) *cobra.Command {
	var user, dryRun, show, asJSON bool
	c := &cobra.Command{
		Use:   "install",
		Short: "Write units, account and configuration, and enable the service",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := g.service(user, true)
			if err != nil {
				return err
			}
			if show || dryRun {
				if asJSON {
					return printJSON(g.io.out, planReport(s.Plan()))
				}
				printPlan(g, s.Plan(), show)
				return nil
			}
			if err := needsRoot(user, "install"); err != nil {
				return err
			}
			if err := s.Install(g.progress(asJSON)); err != nil {
				return serviceError(err, user)
			}
			if asJSON {
				return g.done(s, user, asJSON)
			}
			fmt.Fprintf(g.io.out, "\nstart it: knowledged service start%s\n", userFlag(user))
			return nil
		},
	}
	forUser(c, &user)
	c.Flags().BoolVar(&dryRun, "dry-run", false, "name what would be written and run, and do nothing")
	c.Flags().BoolVar(&show, "print", false, "print the files, and do nothing")
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: how the service stands then; with --dry-run or --print what would be done")
	c.MarkFlagsMutuallyExclusive("dry-run", "print")
	return c
}

func newServiceUninstall(g *globals) *cobra.Command {
	var user, asJSON bool
	c := &cobra.Command{
		Use:   "uninstall",
		Short: "Stop the service and take away what install wrote; documents, state and configuration stay",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := g.service(user, false)
			if err != nil {
				return err
			}
			if err := needsRoot(user, "uninstall"); err != nil {
				return err
			}
			if err := s.Uninstall(g.progress(asJSON)); err != nil {
				return serviceError(err, user)
			}
			return g.done(s, user, asJSON)
		},
	}
	forUser(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: how the service stands then, as of service status")
	return c
}

func newServiceControl(g *globals, verb, short string, do func(*service.Config) error) *cobra.Command {
	var user, asJSON bool
	c := &cobra.Command{
		Use:   verb,
		Short: short,
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := g.service(user, false)
			if err != nil {
				return err
			}
			st, err := s.Status()
			if err != nil {
				return serviceError(err, user)
			}
			if !st.Installed {
				return notInstalled(user)
			}
			if err := needsRoot(user, verb); err != nil {
				return err
			}
			if err := do(s); err != nil {
				return serviceError(err, user)
			}
			return g.done(s, user, asJSON)
		},
	}
	forUser(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON: how the service stands then, as of service status")
	return c
}

func newServiceStatus(g *globals) *cobra.Command {
	var user, asJSON bool
	c := &cobra.Command{
		Use:   "status",
		Short: "What the service manager says; exit code 4 unless the daemon runs",
		Example: `  knowledged service status
  knowledged service status --user --json`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			s, err := g.service(user, false)
			if err != nil {
				return err
			}
			st, err := s.Status()
			if err != nil {
				st = service.State{State: "not known: " + err.Error()}
			}
			switch {
			case asJSON:
				if err := printJSON(g.io.out, st); err != nil {
					return err
				}
			case err == nil:
				printState(g, st, user)
			}
			exit := &exitError{code: exitNoDaemon}
			switch {
			case err != nil && errors.As(serviceError(err, user), &exit):
				exit.code = exitNoDaemon // whoever cannot be asked runs no daemon
				return exit
			case !st.Running:
				return exit
			}
			return nil
		},
	}
	forUser(c, &user)
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	return c
}

// done says in JSON how the service stands now.
func (g *globals) done(s *service.Config, user, asJSON bool) error {
	if !asJSON {
		return nil
	}
	st, err := s.Status()
	if err != nil {
		return serviceError(err, user)
	}
	return printJSON(g.io.out, st)
}

// progress is where it is told what is being done: not among JSON.
func (g *globals) progress(asJSON bool) io.Writer {
	if asJSON {
		return g.io.err
	}
	return g.io.out
}
