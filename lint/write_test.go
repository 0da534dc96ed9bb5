package lint

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func sample() Report {
	related := make([]Related, 12)
	for i := range related {
		related[i] = Related{Location{"支付/b c.md", 3, 7}, "carries it as its keyword"}
	}
	return Report{Documents: 2, Errors: 1, Warnings: 1, Findings: []Finding{
		found(NotText, Location{Path: "a.md"}, "a NUL"),
		found(SharedName, Location{"b.md", 3, 12}, `keyword "x" <is> shared`, related...),
	}}
}

func TestText(t *testing.T) {
	var out strings.Builder
	if err := WriteText(&out, sample(), "kb"); err != nil {
		t.Fatal(err)
	}
	want := `kb/a.md: error: a NUL [not-text]
    fix: Save it as UTF-8, or give it another extension.
kb/b.md:3:12: warning: keyword "x" <is> shared [shared-name]
` + strings.Repeat("    kb/支付/b c.md:3:7: carries it as its keyword\n", 10) + `    … and 2 more (--format json lists all)
    fix: Keep the name on the document it means; give the others longer names of their own.
2 documents: 1 error, 1 warning, 0 notes
`
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestJSON(t *testing.T) {
	var out strings.Builder
	if err := WriteJSON(&out, sample()); err != nil {
		t.Fatal(err)
	}
	var back Report
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || len(back.Findings) != 2 || len(back.Findings[1].Related) != 12 || back.Findings[1].Line != 3 {
		t.Errorf("%v %+v", err, back)
	}
	if !strings.Contains(out.String(), "<is>") {
		t.Error("signs are escaped")
	}
	out.Reset()
	if err := WriteJSON(&out, Check(Folder{})); err != nil || !strings.Contains(out.String(), `"findings": []`) {
		t.Errorf("nothing found is %s", out.String())
	}
}

// The parts of SARIF 2.1.0 that a reader relies on.
func TestSARIF(t *testing.T) {
	var out strings.Builder
	if err := WriteSARIF(&out, sample(), "kb", "1.2.3"); err != nil {
		t.Fatal(err)
	}
	type physical struct {
		ArtifactLocation struct{ URI string }
		Region           *struct{ StartLine, StartColumn int }
	}
	type location struct {
		ID               *int
		PhysicalLocation physical
		Message          *struct{ Text string }
	}
	var log struct {
		Schema  string `json:"$schema"`
		Version string
		Runs    []struct {
			ColumnKind string
			Tool       struct {
				Driver struct {
					Name, Version string
					Rules         []struct {
						ID                     string
						ShortDescription, Help struct{ Text string }
						DefaultConfiguration   struct{ Level string }
					}
				}
			}
			Results []struct {
				RuleID              string
				RuleIndex           int
				Level               string
				Message             struct{ Text string }
				Locations           []location
				RelatedLocations    []location
				PartialFingerprints map[string]string
			}
		}
	}
	if err := json.Unmarshal([]byte(out.String()), &log); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.Schema, "sarif-2.1.0") || log.Version != "2.1.0" || len(log.Runs) != 1 {
		t.Fatalf("schema %q, version %q, %d runs", log.Schema, log.Version, len(log.Runs))
	}
	run := log.Runs[0]
	rules := run.Tool.Driver.Rules
	if run.Tool.Driver.Name == "" || run.Tool.Driver.Version != "1.2.3" || len(rules) != len(Rules) || run.ColumnKind != "unicodeCodePoints" {
		t.Errorf("driver is %+v", run.Tool.Driver)
	}
	levels := []string{"error", "warning", "note"}
	for _, r := range rules {
		if r.ID == "" || r.ShortDescription.Text == "" || r.Help.Text == "" || !slices.Contains(levels, r.DefaultConfiguration.Level) {
			t.Errorf("rule is %+v", r)
		}
	}
	if len(run.Results) != 2 {
		t.Fatalf("%d results", len(run.Results))
	}
	for _, r := range run.Results {
		if rules[r.RuleIndex].ID != r.RuleID || !slices.Contains(levels, r.Level) || r.Message.Text == "" || len(r.Locations) != 1 || len(r.PartialFingerprints) != 1 {
			t.Errorf("result is %+v", r)
		}
	}
	first, second := run.Results[0].Locations[0].PhysicalLocation, run.Results[1]
	if first.ArtifactLocation.URI != "kb/a.md" || first.Region != nil {
		t.Errorf("a finding without a line is at %+v", first)
	}
	if at := second.Locations[0].PhysicalLocation; at.Region == nil || at.Region.StartLine != 3 || at.Region.StartColumn != 12 {
		t.Errorf("a finding with line and column is at %+v", at)
	}
	if len(second.RelatedLocations) != 12 || second.RelatedLocations[0].PhysicalLocation.ArtifactLocation.URI != "kb/%E6%94%AF%E4%BB%98/b%20c.md" ||
		second.RelatedLocations[11].ID == nil || *second.RelatedLocations[11].ID != 11 || second.RelatedLocations[0].Message == nil {
		t.Errorf("related locations are %+v", second.RelatedLocations[0])
	}
}

func TestURI(t *testing.T) {
	for p, want := range map[string]string{"a.md": "a.md", "/srv/kb/a.md": "file:///srv/kb/a.md", "C:/kb/a.md": "file:///C:/kb/a.md", "a:b.md": "./a:b.md"} { // else a: would be a scheme
		if got := uri(p); got != want {
			t.Errorf("uri(%q) = %q, want %q", p, got, want)
		}
	}
}
