package lookup

import (
	"fmt"
	"strings"

	"knowledged/document"
)

// nearTitles is how many titles a hint names.
const nearTitles = 3

// sectionText is a section's own text, to the next heading of the same or a higher level.
func sectionText(d *document.Document, s document.Section) string {
	return strings.Trim(d.Body[s.Text:s.End], "\n")
}

// sectionHint says which titles come nearest to one that does not exist.
func sectionHint(d *document.Document, title string) string {
	title = clip(oneLine(title), 80)
	near := d.NearestTitles(title, nearTitles)
	switch {
	case len(near) == 0 && d.Chinese:
		return fmt.Sprintf("没有名为“%s”的章节：该文档没有章节。", title)
	case len(near) == 0:
		return fmt.Sprintf("There is no section %q: the document has no sections.", title)
	case d.Chinese:
		return fmt.Sprintf("没有名为“%s”的章节。相近的有：%s", title, strings.Join(near, "、"))
	}
	return fmt.Sprintf("There is no section %q. Nearest: %s", title, strings.Join(near, ", "))
}

// sectionUnused says that a section was asked for and there is no document to take it from (SPEC 2.7).
func sectionUnused(query, title string) string {
	title = clip(oneLine(title), 80)
	if hasHan(query) {
		return fmt.Sprintf("未按章节“%s”作答：问题没有点明是哪篇文档。请在问题中写出文档的标题或关键词。", title)
	}
	return fmt.Sprintf("Section %q was not looked for: the question names no document. Put its title or a keyword of it into the question.", title)
}

// listed is a list that is never null in JSON.
func listed(s []string) []string {
	if s == nil {
		return []string{}
	}
	return s
}
