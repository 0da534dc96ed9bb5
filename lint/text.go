package lint

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"path"
)

// maxRelatedText is how many related places a person is shown; JSON and SARIF have all.
const maxRelatedText = 10

// WriteText writes a line for each finding in the form that editors jump by, what to do below it, and a sum. root is put in
// front of all paths.
func WriteText(w io.Writer, r Report, root string) error {
	out := bufio.NewWriter(w)
	for _, f := range r.Findings {
		fmt.Fprintf(out, "%s: %s: %s [%s]\n", place(root, f.Location), f.Severity, f.Message, f.Rule)
		for _, rel := range f.Related[:min(len(f.Related), maxRelatedText)] {
			fmt.Fprintf(out, "    %s: %s\n", place(root, rel.Location), rel.Message)
		}
		if more := len(f.Related) - maxRelatedText; more > 0 {
			fmt.Fprintf(out, "    … and %d more (--format json lists all)\n", more)
		}
		fmt.Fprintf(out, "    fix: %s\n", f.Fix)
	}
	fmt.Fprintf(out, "%s: %s, %s, %s\n", count(r.Documents, "document"), count(r.Errors, "error"), count(r.Warnings, "warning"), count(r.Notes, "note"))
	return out.Flush()
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

func place(root string, l Location) string {
	at := path.Join(root, l.Path)
	if l.Line > 0 {
		at += fmt.Sprintf(":%d", l.Line)
	}
	if l.Column > 0 {
		at += fmt.Sprintf(":%d", l.Column)
	}
	return at
}

// WriteJSON writes the report as it is; paths are below the base folder.
func WriteJSON(w io.Writer, r Report) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}
