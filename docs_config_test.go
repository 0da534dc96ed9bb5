package knowledged

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"knowledged/config"
)

var yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")

// What the guides show of a configuration file is one: somebody copies it.
func TestConfigurationsOfTheGuidesLoad(t *testing.T) {
	loaded := 0
	for _, pair := range guides {
		for _, guide := range pair {
			for _, block := range yamlBlock.FindAllStringSubmatch(read(t, guide), -1) {
				text := block[1]
				if !strings.HasPrefix(text, "embedding:") && !strings.HasPrefix(text, "l1:") && !strings.HasPrefix(text, "lookup:") {
					continue // another program's
				}
				dir := t.TempDir()
				// Files that are named need not be here.
				for _, name := range regexp.MustCompile(`/etc/knowledged/[\w.-]+`).FindAllString(text, -1) {
					here := filepath.Join(dir, filepath.Base(name))
					if err := os.WriteFile(here, []byte("user:secret\n"), 0o600); err != nil {
						t.Fatal(err)
					}
					text = strings.ReplaceAll(text, name, here)
				}
				file := filepath.Join(dir, "knowledged.yaml")
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				_, err := config.Load(config.Options{File: file, Cwd: dir, Env: []string{"HOME=" + dir, "XDG_RUNTIME_DIR=" + dir}})
				if err != nil {
					t.Errorf("%s:\n%s\n%v", guide, block[1], err)
				}
				loaded++
			}
		}
	}
	if loaded < 12 {
		t.Errorf("only %d configurations in the guides", loaded)
	}
}
