package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"knowledged/config"
	"knowledged/importer"
	"knowledged/ipc"
)

func newImport(g *globals) *cobra.Command {
	var (
		category, onClash string
		dry, asJSON       bool
	)
	c := &cobra.Command{
		Use:   "import DIR",
		Short: "Copy a folder of Markdown into the base folder",
		Long: `Copy a folder of Markdown into the base folder, with its subfolders. DIR is only read.

What is there already, by its bytes, is not copied again: after an interruption run the same
command once more. A file whose name is another document's gets a number, unless --on-clash
says otherwise; nothing is ever overwritten. A running daemon sees the new files by itself.
Where neither flag, variable nor configuration file names the base folder, it is that of the
daemon that answers.

Exit code 1: some files could not be copied; 5: the daemon is another folder's.`,
		Example: `  knowledged import ~/wiki --category wiki --dry-run
  knowledged import ~/wiki --category wiki
  knowledged import export/ --category notes --on-clash skip --json | jq -r 'select(.result == "failed")'`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			ic, err := importConfig(cfg, args[0], category, onClash)
			if err != nil {
				return err
			}
			client, err := g.folder(c.Context(), cfg)
			if err != nil {
				return err
			}
			ic.Base = cfg.Knowledge.BasePath
			out := &importReport{io: g.io, json: asJSON, dry: dry, base: filepath.Base(ic.Base), counts: noCounts()}
			return out.finish(c.Context(), out.run(c.Context(), ic), client)
		},
	}
	f := c.Flags()
	f.StringVar(&category, "category", "", "folder below the base (`CATEGORY`, may hold /; default the base folder itself)")
	f.StringVar(&onClash, "on-clash", importer.ClashRename, "what to do where a name is taken: rename, skip or fail (`WHAT`)")
	f.BoolVar(&dry, "dry-run", false, "say what would be done, do nothing")
	f.BoolVar(&asJSON, "json", false, "a line of JSON for each file, then one with the sums")
	g.completes(c, "category", categories)
	choices(c, "on-clash", importer.ClashRename, importer.ClashSkip, importer.ClashFail)
	return c
}

// importConfig is what the command line says, all but the base folder.
func importConfig(cfg *config.Config, dir, category, onClash string) (importer.Config, error) {
	usage := func(err error, hint string) (importer.Config, error) {
		return importer.Config{}, &exitError{code: exitUsage, err: err, hint: hint}
	}
	if !slices.Contains([]string{importer.ClashRename, importer.ClashSkip, importer.ClashFail}, onClash) {
		return usage(fmt.Errorf("--on-clash is %q", onClash), "use rename, skip or fail")
	}
	category = strings.TrimSuffix(filepath.ToSlash(category), "/") // which completing a path leaves
	if err := ipc.CheckName(category, "x.md"); err != nil {
		return usage(fmt.Errorf("--%w", err), "")
	}
	source, err := filepath.Abs(dir)
	if err != nil {
		return usage(err, "")
	}
	if info, err := os.Stat(source); err != nil || !info.IsDir() {
		return usage(fmt.Errorf("%s is no folder", dir), "name the folder to copy; a single file is saved with `knowledged docs put`")
	}
	return importer.Config{
		Source: source, Category: category, OnClash: onClash,
		MaxFileSize: int64(cfg.Knowledge.MaxFileSize), FollowSymlinks: cfg.Watch.FollowSymlinks,
	}, nil
}

// importReport tells what an import does, as it does it.
type importReport struct {
	io     streams
	json   bool
	dry    bool
	base   string // the base folder's name
	counts map[string]int
	fault  error // of writing
}

func (r *importReport) run(ctx context.Context, cfg importer.Config) error {
	reading := newProgress(r.io.err)
	plan, err := importer.New(ctx, cfg, func(done, all int) { reading.count("reading", done, all) }, slog.New(slog.DiscardHandler))
	reading.end()
	var overlap *importer.OverlapError
	switch {
	case errors.As(err, &overlap):
		return &exitError{code: exitUsage, err: err}
	case err != nil:
		return err
	}
	bar := newProgress(r.io.err)
	defer bar.end()
	if cfg.OnClash == importer.ClashFail && plan.Clashes() > 0 {
		for _, item := range plan.Items {
			if item.Result == importer.Renamed {
				item.Result, item.Target = importer.Skipped, ""
				r.tell(bar, item)
			}
		}
		return &exitError{code: exitFailed, err: fmt.Errorf("%d names are taken: nothing was copied", plan.Clashes()), hint: "--on-clash rename keeps both, --on-clash skip leaves these out"}
	}
	if r.dry {
		plan.Rehearse(func(item importer.Item) { r.tell(bar, item) })
		return r.fault
	}
	n := 0
	err = plan.Run(ctx, func(item importer.Item) {
		r.tell(bar, item)
		n++
		bar.count("copying", n, len(plan.Items))
	})
	return errors.Join(err, r.fault)
}

// noCounts has every result, so that a script finds each in the sums.
func noCounts() map[string]int {
	counts := map[string]int{}
	for _, result := range []string{importer.Imported, importer.Renamed, importer.Duplicate, importer.Skipped, importer.Link, importer.Failed} {
		counts[result] = 0
	}
	return counts
}

// importLine is what --json says of a file.
type importLine struct {
	File   string `json:"file"`   // below DIR
	Source string `json:"source"` // the document it became, or would; "" if none
	Result string `json:"result"`
	Other  string `json:"other,omitempty"` // the document with the same bytes or name, or the file of DIR with the same bytes
	Reason string `json:"reason,omitempty"`
	DryRun bool   `json:"dryRun,omitempty"` // nothing was done: it is what would become of it
}

// importSums is the last line of --json.
type importSums struct {
	Summary map[string]int `json:"summary"` // number of files by result; all results are there
	DryRun  bool           `json:"dryRun"`
}

// tell prints one file: all of them with --json, for a person those that are not simply copied.
func (r *importReport) tell(bar *progress, item importer.Item) {
	r.counts[item.Result]++
	line := importLine{File: item.File, Result: item.Result, Reason: item.Reason, Other: item.Other, DryRun: r.dry}
	if item.Target != "" {
		line.Source = path.Join(r.base, item.Target)
	}
	if item.Other != "" && !item.Twin {
		line.Other = path.Join(r.base, item.Other)
	}
	if r.json {
		if r.fault == nil { // one says it for all
			r.fault = json.NewEncoder(r.io.out).Encode(line)
		}
		return
	}
	text, copied, not := "", "copied", "not copied"
	if r.dry {
		copied, not = "would be copied", "would not be copied"
	}
	switch item.Result {
	case importer.Imported:
		return
	case importer.Renamed:
		text = fmt.Sprintf("%s is taken: %s as %s", named(line.Other), copied, named(line.Source))
	case importer.Skipped:
		text = named(line.Other) + " is taken: " + not
	case importer.Duplicate:
		text = "the same as " + named(line.Other) + ": " + not
	case importer.Link, importer.Failed:
		text = not + ": " + named(line.Reason)
	}
	bar.pause() // the line goes where the bar is
	fmt.Fprintf(r.io.out, "%s: %s\n", named(item.File), text)
}

// finish prints the sums and gives the exit code.
func (r *importReport) finish(ctx context.Context, err error, client *ipc.Client) error {
	var exit *exitError
	if errors.As(err, &exit) {
		return err
	}
	copied := r.counts[importer.Imported] + r.counts[importer.Renamed]
	if r.json && r.fault == nil {
		err = errors.Join(err, json.NewEncoder(r.io.out).Encode(importSums{r.counts, r.dry}))
	} else if !r.json {
		verb := "copied"
		if r.dry {
			verb = "would copy"
		}
		fmt.Fprintf(r.io.out, "%s %d; %d under another name, %d there already, %d with a name that is taken, %d not to be had", verb, copied,
			r.counts[importer.Renamed], r.counts[importer.Duplicate], r.counts[importer.Skipped], r.counts[importer.Failed])
		if n := r.counts[importer.Link]; n > 0 {
			fmt.Fprintf(r.io.out, ", %d links not followed", n)
		}
		fmt.Fprintln(r.io.out)
	}
	switch {
	case errors.Is(err, context.Canceled):
		return &exitError{code: exitFailed, err: errors.New("interrupted"), hint: "the same command goes on where this one ended"}
	case err != nil:
		return &exitError{code: exitFailed, err: err}
	}
	if copied > 0 && !r.dry {
		r.next(ctx, client)
	}
	if n := r.counts[importer.Failed]; n > 0 {
		verb := "could not be"
		if r.dry {
			verb = "would not be"
		}
		return &exitError{code: exitFailed, err: fmt.Errorf("%d files %s copied", n, verb)}
	}
	return nil
}

// next says how to see what was copied.
func (r *importReport) next(ctx context.Context, client *ipc.Client) {
	if _, err := client.Status(ctx); err == nil { // another folder's would refuse
		fmt.Fprintln(r.io.err, "hint: the daemon is indexing them; `knowledged status --wait` returns when it is done")
	} else {
		fmt.Fprintln(r.io.err, "hint: `knowledged lint` says what keeps documents from being found")
	}
}
