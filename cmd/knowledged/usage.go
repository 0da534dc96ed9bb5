package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// span is a flag's time span: as Go writes them, or whole days or weeks (7d, 2w).
type span time.Duration

func (s *span) String() string { return time.Duration(*s).String() }
func (s *span) Type() string   { return "duration" }

func (s *span) Set(text string) error {
	d, err := time.ParseDuration(text)
	for unit, length := range map[string]time.Duration{"d": 24 * time.Hour, "w": 7 * 24 * time.Hour} {
		number, ok := strings.CutSuffix(text, unit)
		if n, bad := strconv.ParseUint(number, 10, 12); ok && bad == nil {
			d, err = time.Duration(n)*length, nil
		}
	}
	if err != nil || d < 0 {
		return errors.New("no span of time")
	}
	*s = span(d)
	return nil
}

// flagError says in plain words what a flag takes.
func flagError(_ *cobra.Command, err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	takes := map[string]string{
		"int":      "a whole number",
		"bool":     "true or false",
		"duration": "a span of time such as 30s, 24h or 7d",
	}[bad.GetFlag().Value.Type()]
	if takes == "" {
		return err
	}
	return fmt.Errorf("--%s %s: it takes %s", bad.GetFlag().Name, bad.GetValue(), takes)
}

// group makes a command that only holds others: alone it explains itself, another name is an error.
func group(c *cobra.Command) *cobra.Command {
	c.Args = func(c *cobra.Command, args []string) error {
		if len(args) > 0 {
			return unknownCommand(c, args[0])
		}
		return nil
	}
	c.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	c.SuggestionsMinimumDistance = 2
	return c
}

func unknownCommand(c *cobra.Command, name string) error {
	hint := fmt.Sprintf("see `%s --help`", c.CommandPath())
	if near := c.SuggestionsFor(name); len(near) > 0 {
		hint = fmt.Sprintf("did you mean `%s %s`?", c.CommandPath(), near[0])
	}
	return &exitError{code: exitUsage, err: fmt.Errorf("unknown command %q for %q", name, c.CommandPath()), hint: hint}
}

// strictHelp makes `help NAME` of a name that is none an error, as it is without help.
func strictHelp(root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range root.Commands() {
		if c.Name() != "help" {
			continue
		}
		c.Args = func(_ *cobra.Command, args []string) error {
			at := root
			for _, name := range args {
				next, rest, err := at.Find([]string{name})
				if err != nil || len(rest) > 0 {
					return unknownCommand(at, name)
				}
				at = next
			}
			return nil
		}
	}
}

// strictCompletion makes a shell that there is no script for an error. A caller would source the help otherwise.
// It needs the output set: the scripts go there.
func strictCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		var shells []string
		for _, shell := range c.Commands() {
			shells = append(shells, shell.Name())
		}
		group(c).Args = func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return &exitError{code: exitUsage, err: fmt.Errorf("no completions for %q", args[0]), hint: "there are some for " + strings.Join(shells, ", ")}
		}
	}
}
