package client_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"knowledged/client"
)

func Example() {
	c := &client.Client{Socket: socket} // client.Local() finds that of your own daemon
	defer c.Close()
	answer, err := c.Lookup(context.Background(), client.Request{Query: "GC-7"})
	if err != nil {
		fmt.Println(err)
		return
	}
	if p := answer.Primary; p != nil { // a document goes by that name
		fmt.Println(p.Title, "|", p.Source, "|", p.Confidence)
	}
	// Output: Gift cards | notes/domain/gift-cards.md | high
}

// A question in one's own words is answered by the passage that fits best, or honestly not at all.
func ExampleClient_Lookup() {
	c := &client.Client{Socket: socket}
	defer c.Close()
	for _, question := range []string{"card locked after wrong PINs", "how to bake bread"} {
		answer, err := c.Lookup(context.Background(), client.Request{Query: question})
		if err != nil {
			fmt.Println(err)
			return
		}
		if !answer.Found {
			fmt.Println("the folder has nothing on this")
			continue
		}
		fmt.Println(answer.Supplement.Breadcrumb, "|", answer.Supplement.Relevance)
	}
	// Output:
	// Gift cards > GC-7 | strong
	// the folder has nothing on this
}

// Over the loopback port; what writes needs the token.
func ExampleClient_Put() {
	ctx := context.Background()
	c := &client.Client{URL: url, Token: token}
	defer c.Close()
	text := []byte("---\ntitle: Refund rules\nkeywords: [RF-1]\nsummary: When money goes back\n---\n\nWithin 30 days.\n")
	rec, created, err := c.Put(ctx, client.PutRequest{Category: "domain", FileName: "refunds.md", Body: text})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(rec.Source, created)

	// Only over the version that was read: an edit made meanwhile is not lost.
	stale := client.Match{Given: true, Hashes: []string{"0123"}}
	_, _, err = c.Put(ctx, client.PutRequest{Category: "domain", FileName: "refunds.md", Body: []byte("# Other"), IfMatch: stale})
	var problem *client.Problem
	if errors.As(err, &problem) {
		fmt.Println(problem.Status, problem.Title)
	}
	if _, err := c.Delete(ctx, rec.DocID, client.Match{}); err != nil {
		fmt.Println(err)
		return
	}
	// Output:
	// notes/domain/refunds.md true
	// 412 Precondition Failed
}

func ExampleClient_AllDocuments() {
	c := &client.Client{Socket: socket}
	defer c.Close()
	for rec, err := range c.AllDocuments(context.Background(), client.DocumentsQuery{Category: "domain"}) {
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(rec.Source, rec.Keywords)
	}
	// Output: notes/domain/gift-cards.md [gift card GC-7]
}

func ExampleClient_Events() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c := &client.Client{Socket: socket}
	defer c.Close()
	defer somebodySaves("late.md")()
	for e, err := range c.Events(ctx) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if e.Type == client.EventDocument { // created, updated, deleted or failed: e.Action
			fmt.Println(e.Source)
			break
		}
	}
	// Output: notes/domain/late.md
}

func ExampleClient_Status() {
	c := &client.Client{Socket: socket}
	defer c.Close()
	s, err := c.Status(context.Background())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(s.Ready, s.Documents.Total, "documents")

	nobody := &client.Client{Socket: socket + ".none"}
	_, err = nobody.Status(context.Background())
	fmt.Println(errors.Is(err, client.ErrNoDaemon))
	// Output:
	// true 1 documents
	// true
}
