package daemon

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"knowledged/config"
	"knowledged/lookup"
)

// measured is what calibration found out, kept over restarts: it takes a call of the embedding server for each title of the
// sample, and until it is done again lookups would judge without cosines.
type measured struct {
	Model     string // measuredModel of when it was made
	Documents int    // in the folder then
	Unrelated lookup.Spread
	Reference lookup.Spread
}

// measuredModel names all that the measures depend on, save the folder: unlike stored vectors, they depend on how queries
// are put.
func measuredModel(model string, dimensions int, builtin string, c config.OpenAI) (string, error) {
	queries, err := json.Marshal([]any{c.QueryPrefix, c.QueryBody})
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(queries)
	return fmt.Sprintf("%s %d %s %s", model, dimensions, builtin, hex.EncodeToString(sum[:4])), nil
}

// readMeasured gives what was kept for a model; nothing if there is no such file, or it is another model's or damaged.
func readMeasured(file, model string) (measured, bool) {
	data, err := os.ReadFile(file)
	if err != nil {
		return measured{}, false
	}
	var m measured
	if json.Unmarshal(data, &m) != nil || m.Model != model || m.Documents < fewestDocuments {
		return measured{}, false
	}
	return m, lookup.CalibrationOf(m.Unrelated, m.Reference).Unrelated.SD > 0
}

// write keeps the measures, whole or not at all.
func (m measured) write(file string) error {
	data, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil { // a reader of Milvus keeps nothing else there
		return err
	}
	const newSuffix = ".new"
	if err := os.WriteFile(file+newSuffix, data, 0o600); err != nil {
		return err
	}
	return os.Rename(file+newSuffix, file)
}

func (d *Daemon) measuredFile() string {
	return filepath.Join(d.cfg.StateDir, "l1", "calibration.json")
}

func (d *Daemon) measuredModel() (string, error) {
	return measuredModel(d.provider.Name(), d.provider.Dimensions(), d.builtin.Name(), d.cfg.Embedding.OpenAI)
}

// takeMeasured has lookups judge by what was measured before a restart.
func (d *Daemon) takeMeasured() {
	if d.provider == nil || d.cfg.Embedding.Provider == config.ProviderBuiltin {
		return
	}
	model, err := d.measuredModel()
	if err != nil {
		return
	}
	if m, ok := readMeasured(d.measuredFile(), model); ok {
		d.calibration, d.calibratedAt = lookup.CalibrationOf(m.Unrelated, m.Reference), m.Documents
	}
}

// keepMeasured keeps what was measured with so many documents. Without it the next start measures again.
func (d *Daemon) keepMeasured(c lookup.Calibration, documents int) {
	model, err := d.measuredModel()
	if err == nil {
		err = measured{Model: model, Documents: documents, Unrelated: c.Unrelated, Reference: c.Reference}.write(d.measuredFile())
	}
	if err != nil {
		d.log.Info("calibration of the embedding model not kept, the next start measures again", "path", d.measuredFile(), "err", err)
	}
}
