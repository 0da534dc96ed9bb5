// Command knowledged keeps a folder of Markdown documents hot for people and agents. Each subcommand has a file of its
// own: parse flags, call, print.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

// version is set by the linker.
var version = "dev"

// Exit codes (API.md).
const (
	exitDone     = 0
	exitFailed   = 1
	exitUsage    = 2
	exitNotFound = 3
	exitNoDaemon = 4
	exitInUse    = 5
)

// exitError carries an exit code and what the person can do.
type exitError struct {
	code int
	err  error // nil: the code alone says it
	hint string
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit code %d", e.code)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	stderr := newUnhurried(plainly(os.Stderr))
	code := run(ctx, os.Args[1:], streams{in: os.Stdin, out: plainly(os.Stdout), err: stderr})
	stderr.end()
	stop()
	os.Exit(code)
}

// run is main without the process: tests call it.
func run(ctx context.Context, args []string, io streams) int {
	out := &remembering{w: io.out}
	io.out = out
	root := newRoot(io)
	root.SetArgs(args)
	root.SetIn(io.in)
	root.SetOut(io.out)
	root.SetErr(io.err)
	strictCompletion(root)
	begun := false
	root.PersistentPreRunE = func(c *cobra.Command, _ []string) error {
		err := errors.Join(c.ValidateRequiredFlags(), c.ValidateFlagGroups()) // cobra looks later, when it seems begun
		begun = err == nil
		return err
	}
	err := root.ExecuteContext(ctx)
	if err == nil && out.err != nil { // a full disk: what was asked for is not there
		err = &exitError{code: exitFailed, err: fmt.Errorf("write the output: %w", out.err)}
	}
	if err == nil {
		return exitDone
	}
	var exit *exitError
	if !errors.As(err, &exit) {
		exit = &exitError{code: exitUsage, err: err, hint: "see `knowledged --help`"}
		if begun { // the command line was good
			exit = &exitError{code: exitFailed, err: err}
		}
	}
	if exit.err != nil {
		fmt.Fprintf(io.err, "knowledged: %s\n", oneMessage(exit.err))
	}
	if exit.hint != "" {
		fmt.Fprintf(io.err, "hint: %s\n", exit.hint)
	}
	return exit.code
}

func newRoot(io streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "knowledged",
		Short: "Keeps a folder of Markdown hot: save a file, ask, get the right answer",
		Long: `knowledged watches a folder of Markdown documents and answers questions about them:
by keyword in under a millisecond where a keyword says which document is meant, by
meaning where none or several do, and honestly "not found" where the folder doesn't know.

Start the daemon with "knowledged run", then ask with "knowledged lookup".

Exit codes: 0 done; 1 failed; 2 bad usage or configuration; 3 nothing found (lookup);
4 no daemon reachable; 5 another daemon owns the socket or the state folder.`,
		SilenceErrors: true,
		SilenceUsage:  true,
	}
	var g globals
	f := root.PersistentFlags()
	f.StringVar(&g.file, "config", "", "configuration `FILE` (default ./knowledged.yaml, then the user's, then /etc/knowledged/config.yaml)")
	f.StringVar(&g.base, "base", "", "base `DIR` of the documents (knowledge.base_path)")
	f.StringVar(&g.socket, "socket", "", "Unix socket `PATH` (ipc.socket)")
	f.StringVar(&g.state, "state", "", "state `DIR` (state_dir)")
	g.io = io
	root.SetFlagErrorFunc(flagError)
	root.Version = version
	root.SetVersionTemplate("knowledged {{.Version}}\n")
	root.SuggestionsMinimumDistance = 2 // letters
	root.AddCommand(newRun(&g), newLookup(&g), newStatus(&g), newDocs(&g), newImport(&g), newReconcile(&g), newStats(&g), newLint(&g), newMCP(&g), newService(&g), newState(&g), newDoctor(&g), newConfig(&g), newVersion(&g), newMan())
	strictHelp(root)
	return root
}
