package lookup

import "context"

// Lookup answers one question. The error is an *InputError for a bad request, else the context's.
func (e *Engine) Lookup(ctx context.Context, req Request) (*Answer, error) {
	return nil, nil
}

// Excerpt is a document's text, as GET …/content returns it.
type Excerpt struct {
	Content           string   `json:"content"`
	Truncated         bool     `json:"truncated"`
	Section           *string  `json:"section"`
	AvailableSections []string `json:"availableSections"`
	Hint              string   `json:"hint,omitempty"`
}
