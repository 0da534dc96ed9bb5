package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// newMan is for those who make packages.
func newMan() *cobra.Command {
	return &cobra.Command{
		Use:     "man DIR",
		Short:   "Write the man pages into a folder",
		Example: "  knowledged man /usr/local/share/man/man1",
		Args:    cobra.ExactArgs(1),
		Hidden:  true,
		RunE: func(c *cobra.Command, args []string) error {
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return &exitError{code: exitFailed, err: fmt.Errorf("make the folder: %w", err)}
			}
			root := c.Root()
			root.DisableAutoGenTag = true // the same pages from the same program
			header := &doc.GenManHeader{Title: "KNOWLEDGED", Section: "1", Source: "knowledged " + version, Manual: "knowledged"}
			if err := doc.GenManTree(root, header, args[0]); err != nil {
				return &exitError{code: exitFailed, err: fmt.Errorf("write man pages: %w", err)}
			}
			return nil
		},
	}
}
