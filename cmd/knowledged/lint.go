package main

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"knowledged/lint"
	"knowledged/lint/folder"
)

func newLint(g *globals) *cobra.Command {
	var (
		format         string
		strict, asJSON bool
	)
	c := &cobra.Command{
		Use:   "lint [DIR]",
		Short: "Find what keeps documents from being found",
		Long: `Find what keeps documents from being found: keywords that several documents share,
front matter that cannot be read or says too little, sections that do not exist, titles
that are there twice, dead links.

DIR is a folder of documents (default: the base folder). No daemon is needed. Exit code 1:
there are errors (with --strict: or warnings). docs/lint.md describes every rule.`,
		Example: `  knowledged lint
  knowledged lint docs/kb --strict
  knowledged lint --format sarif > lint.sarif`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if asJSON {
				format = "json"
			}
			write, ok := lintFormats[format]
			if !ok {
				return &exitError{code: exitUsage, err: fmt.Errorf("--format is %q", format), hint: "use text, json or sarif"}
			}
			if len(args) == 1 {
				g.base = args[0]
			}
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			base := cfg.Knowledge.BasePath
			if info, err := os.Stat(base); err != nil || !info.IsDir() {
				return &exitError{code: exitUsage, err: fmt.Errorf("%s is no folder", base), hint: "name the folder of documents: `knowledged lint DIR`"}
			}
			read, err := folder.Read(c.Context(), folder.Config{
				Base: base, MaxFileSize: int64(cfg.Knowledge.MaxFileSize),
				Fallback: cfg.Knowledge.FrontMatter.Fallback, FollowSymlinks: cfg.Watch.FollowSymlinks,
			}, slog.New(slog.DiscardHandler)) // what it would say is among the findings
			if err != nil {
				return &exitError{code: exitFailed, err: err}
			}
			report := lint.Check(read)
			if err := write(g.io.out, report, shownRoot(base)); err != nil {
				return &exitError{code: exitFailed, err: fmt.Errorf("write the findings: %w", err)}
			}
			if report.Errors > 0 || strict && report.Warnings > 0 {
				return &exitError{code: exitFailed}
			}
			return nil
		},
	}
	c.Flags().StringVar(&format, "format", "text", "`FORMAT`: text, json or sarif")
	c.Flags().BoolVar(&strict, "strict", false, "exit code 1 for warnings as well")
	c.Flags().BoolVar(&asJSON, "json", false, "the same as --format json")
	c.MarkFlagsMutuallyExclusive("json", "format")
	choices(c, "format", "text", "json", "sarif")
	return c
}

var lintFormats = map[string]func(w io.Writer, r lint.Report, root string) error{
	"text":  lint.WriteText,
	"json":  func(w io.Writer, r lint.Report, _ string) error { return lint.WriteJSON(w, r) },
	"sarif": func(w io.Writer, r lint.Report, root string) error { return lint.WriteSARIF(w, r, root, version) },
}

// shownRoot is the base folder as findings name it: relative where it lies below the working directory, so that editors
// and code hosts find the files.
func shownRoot(base string) string {
	cwd, err := os.Getwd()
	if err != nil {
		return filepath.ToSlash(base)
	}
	below, err := filepath.Rel(cwd, base)
	if err != nil || below == ".." || strings.HasPrefix(below, ".."+string(filepath.Separator)) {
		return filepath.ToSlash(base)
	}
	return filepath.ToSlash(below)
}
