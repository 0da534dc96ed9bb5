package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"gopkg.in/yaml.v3"

	"knowledged/config"
	"knowledged/document"
	"knowledged/importer"
	"knowledged/ipc"
	"knowledged/lint"
	"knowledged/lint/folder"
)

func newDocsNew(g *globals) *cobra.Command {
	var d draft
	c := &cobra.Command{
		Use:   "new --title TITLE",
		Short: "Write a new document in your editor",
		Long: `Write a new document in $VISUAL or $EDITOR, with its front matter begun. What you save is checked
when you close the editor, and then put into the base folder in one step. Nothing is put there if
you save nothing, or leave the text as it was.

No daemon is needed. Where neither flag, variable nor configuration file names the base folder, it is
that of the daemon that answers. Exit code 1: nothing was put there; 5: the daemon is another folder's.`,
		Example: `  knowledged docs new --title "Gift cards" --category domain
  knowledged docs new --title 支付超时 --category api --keywords ERR_TIMEOUT,超时 --name payment-timeout.md`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := g.load(nil)
			if err != nil {
				return err
			}
			return d.write(c.Context(), g, cfg)
		},
	}
	f := c.Flags()
	f.StringVar(&d.title, "title", "", "the document's `TITLE`")
	f.StringVar(&d.category, "category", "", "folder below the base (`CATEGORY`, may hold /)")
	f.StringVar(&d.name, "name", "", "file name in the folder (default made of the title)")
	f.StringSliceVar(&d.keywords, "keywords", nil, "names that people type (`LIST`, with commas)")
	f.StringVar(&d.summary, "summary", "", "one sentence (`TEXT`)")
	f.BoolVar(&d.asJSON, "json", false, "the document's source and path as JSON")
	g.completes(c, "category", categories)
	return c
}

// draft is a document about to be written.
type draft struct {
	title, category, name, summary string
	keywords                       []string
	asJSON                         bool
}

// target is the slash path below the base folder.
func (d *draft) target() string { return path.Join(d.category, d.name) }

func (d *draft) write(ctx context.Context, g *globals, cfg *config.Config) error {
	if err := d.check(); err != nil {
		return err
	}
	editor, err := editor()
	if err != nil {
		return &exitError{code: exitUsage, err: err, hint: "set one, as in `EDITOR=nano knowledged docs new …`, or save a file of your own with `knowledged docs put`"}
	}
	client, err := g.folder(ctx, cfg)
	if err != nil {
		return err
	}
	if _, err := os.Lstat(filepath.Join(cfg.Knowledge.BasePath, filepath.FromSlash(d.target()))); err == nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("%s exists already", d.target()), hint: "choose another --name, or open that file"}
	}
	dir, err := os.MkdirTemp("", "knowledged-")
	if err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("make a draft: %w", err)}
	}
	file := filepath.Join(dir, d.name) // editors show the name, and know Markdown by it
	template := d.template()
	if err := os.WriteFile(file, template, 0o600); err != nil {
		return &exitError{code: exitFailed, err: fmt.Errorf("make a draft: %w", err)}
	}
	text, err := d.compose(ctx, g, cfg, editor, file, template)
	if err == nil {
		err = d.save(ctx, g, cfg, client, text)
	}
	if err == nil || text == nil {
		return errors.Join(err, os.RemoveAll(dir))
	}
	fmt.Fprintf(g.io.err, "knowledged: the draft is kept as %s\n", file) // what somebody wrote is not thrown away
	return err
}

// check fills in the file's name and refuses what could not be saved, before anybody writes a text.
func (d *draft) check() error {
	d.category = strings.Trim(filepath.ToSlash(d.category), "/")
	if strings.TrimSpace(d.title) == "" {
		return &exitError{code: exitUsage, err: errors.New("a document needs a --title"), hint: "as in `knowledged docs new --title \"Gift cards\" --category domain`"}
	}
	if d.name == "" {
		d.name = fileNameOf(d.title)
	}
	if err := ipc.CheckName(d.category, d.name); err != nil {
		var bad *ipc.InvalidError
		if errors.As(err, &bad) && bad.Field == "fileName" {
			err = fmt.Errorf("--name %s", bad.Message)
		} else {
			err = fmt.Errorf("--%w", err)
		}
		return &exitError{code: exitUsage, err: err}
	}
	return nil
}

// fileNameOf makes a file's name of a title: letters and digits of any script, the rest hyphens.
func fileNameOf(title string) string {
	words := strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !unicode.Is(unicode.M, r) })
	const most = 80 // bytes, so that it stays readable
	name := ""
	for _, w := range words {
		if name != "" && len(name)+1+len(w) > most {
			break
		}
		name = strings.TrimPrefix(name+"-"+w, "-")
	}
	if len(name) > most {
		name = strings.ToValidUTF8(name[:most], "")
	}
	if name == "" {
		name = "document"
	}
	return name + ".md"
}

// Hints in the template. Those that are still there when the text is saved are left out.
var templateHints = []string{
	"# keywords: what people type, such as error codes and terms; best those of this document alone",
	"# summary: one sentence; it is shown, ranked and understood",
}

// template is what the editor opens with. The category is the folder: it needs no field.
func (d *draft) template() []byte {
	var b bytes.Buffer
	b.WriteString("---\n")
	fmt.Fprintf(&b, "title: %s\n", scalar(d.title))
	words := make([]string, len(d.keywords))
	for i, k := range d.keywords {
		words[i] = scalar(strings.TrimSpace(k))
	}
	fmt.Fprintf(&b, "%s\nkeywords: [%s]\n", templateHints[0], strings.Join(words, ", "))
	summary := ""
	if d.summary != "" {
		summary = scalar(d.summary)
	}
	fmt.Fprintf(&b, "%s\nsummary: %s\n---\n\n", templateHints[1], summary)
	return b.Bytes()
}

// scalar writes a text as YAML, in quotes only where it needs them, also within a list.
func scalar(text string) string {
	node := yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}}}
	out, err := yaml.Marshal(&node)
	if err != nil || bytes.Count(out, []byte("\n")) != 1 {
		return fmt.Sprintf("%q", text) // YAML reads Go's quotes
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(out), "["), "]\n")
}

// compose lets the person write until the text is one to save. A nil text: there is none, nothing is lost.
func (d *draft) compose(ctx context.Context, g *globals, cfg *config.Config, editor, file string, template []byte) ([]byte, error) {
	answers := bufio.NewReader(g.io.in)
	for {
		failed := g.edit(ctx, editor, file)
		text, err := os.ReadFile(file)
		switch {
		case errors.Is(err, fs.ErrNotExist), err == nil && bytes.Equal(text, template), err == nil && len(bytes.TrimSpace(text)) == 0:
			return nil, &exitError{code: exitFailed, err: errors.Join(failed, errors.New("nothing was written: no document is made"))}
		case err != nil:
			return []byte{}, &exitError{code: exitFailed, err: fmt.Errorf("read the draft: %w", err)}
		case failed != nil:
			return text, &exitError{code: exitFailed, err: failed}
		}
		text = withoutHints(text)
		report, err := d.lint(ctx, cfg, text)
		if err != nil {
			return text, &exitError{code: exitFailed, err: err}
		}
		if err := lint.WriteText(g.io.err, report, shownRoot(cfg.Knowledge.BasePath)); err != nil {
			return text, err
		}
		if report.Errors == 0 {
			return text, nil
		}
		if !interactive(g.io) {
			return text, &exitError{code: exitFailed, err: errors.New("the text has errors: no document is made"), hint: "mend the draft and save it with `knowledged docs put`"}
		}
		switch ask(g, answers, "edit again, save as it is, or quit? [E/s/q] ") {
		case 's':
			return text, nil
		case 'q':
			return text, &exitError{code: exitFailed, err: errors.New("no document is made")}
		}
	}
}

// ask gives the answer's first letter; without an answer q: nobody is there.
func ask(g *globals, answers *bufio.Reader, question string) byte {
	fmt.Fprint(g.io.err, question)
	line, err := answers.ReadString('\n')
	line = strings.ToLower(strings.TrimSpace(line))
	switch {
	case line != "":
		return line[0]
	case err != nil:
		return 'q'
	}
	return 'e'
}

func withoutHints(text []byte) []byte {
	for _, hint := range templateHints {
		text = bytes.Replace(text, []byte(hint+"\n"), nil, 1)
	}
	return text
}

// lint checks the text as a document among the others.
func (d *draft) lint(ctx context.Context, cfg *config.Config, text []byte) (lint.Report, error) {
	base := cfg.Knowledge.BasePath
	all := lint.Folder{Exists: func(string) bool { return false }}
	if _, err := os.Stat(base); err == nil {
		all, err = folder.Read(ctx, folder.Config{
			Base: base, MaxFileSize: int64(cfg.Knowledge.MaxFileSize), Fallback: cfg.Knowledge.FrontMatter.Fallback, FollowSymlinks: cfg.Watch.FollowSymlinks,
		}, slog.New(slog.DiscardHandler))
		if err != nil {
			return lint.Report{}, err
		}
	}
	decoded, err := document.Decode(text)
	if err != nil {
		all.Rejected = append(all.Rejected, lint.Rejected{Path: d.target(), Rule: lint.NotText, Reason: err.Error()})
		return lint.Check(all).Of(d.target()), nil //nolint:nilerr // it is among the findings
	}
	doc, err := document.Parse(d.target(), text, document.Options{BaseName: filepath.Base(base), Fallback: cfg.Knowledge.FrontMatter.Fallback})
	if err != nil {
		return lint.Report{}, err
	}
	all.Pages = append(all.Pages, lint.Inspect(doc, decoded))
	return lint.Check(all).Of(d.target()), nil
}

// save puts the text into the base folder: through the daemon, which then answers from it, or without one.
func (d *draft) save(ctx context.Context, g *globals, cfg *config.Config, client *ipc.Client, text []byte) error {
	_, err := client.Status(ctx)
	if p, refusal := errors.AsType[*ipc.Problem](err); refusal && p.Status == http.StatusMisdirectedRequest { // it began meanwhile
		return clientError(err, cfg)
	}
	if err == nil {
		rec, _, err := client.Put(ctx, ipc.PutRequest{Category: d.category, FileName: d.name, Body: text, IfNoneMatch: ipc.Match{Given: true, Any: true}})
		if err != nil {
			return clientError(err, cfg)
		}
		return d.tell(g, rec.Source, rec.FilePath)
	}
	if err := importer.Write(cfg.Knowledge.BasePath, d.target(), text); err != nil {
		return &exitError{code: exitFailed, err: err}
	}
	base := cfg.Knowledge.BasePath
	return d.tell(g, path.Join(filepath.Base(base), d.target()), filepath.Join(base, filepath.FromSlash(d.target())))
}

func (d *draft) tell(g *globals, source, file string) error {
	if d.asJSON {
		return printJSON(g.io.out, map[string]string{"source": source, "filePath": file})
	}
	fmt.Fprintln(g.io.out, "created", source)
	return nil
}
