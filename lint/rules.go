package lint

import "slices"

// Ids of the rules; docs/lint.md describes each.
const (
	FrontMatterBroken = "front-matter-broken"
	FrontMatter       = "front-matter"
	MissingFields     = "missing-fields"
	NoFrontMatter     = "no-front-matter"
	WeakKeyword       = "weak-keyword"
	WeakTitle         = "weak-title"
	WeakSummary       = "weak-summary"
	EmptyDocument     = "empty-document"
	SectionMissing    = "section-missing"
	DuplicateTitle    = "duplicate-title"
	TitleUnfindable   = "title-unfindable"
	SharedName        = "shared-name"
	ContainedName     = "contained-name"
	DeadLink          = "dead-link"
	DeadAnchor        = "dead-anchor"
	NotText           = "not-text"
	TooLarge          = "too-large"
	NotRead           = "not-read"
	ConflictCopy      = "conflict-copy"
	SynonymsBroken    = "synonyms-broken"
	SynonymPointless  = "synonym-pointless"
)

// Rule is a kind of finding.
type Rule struct {
	ID       string
	Severity Severity // of most of its findings
	Short    string
	Why      string // what it does to lookups
	Fix      string // what to do, where the finding has nothing better to say
}

// Rules lists all rules in the order in which docs/lint.md describes them.
var Rules = []Rule{
	{
		FrontMatterBroken, Error, "Front matter cannot be read",
		"No keyword, alias or title of the document takes part in exact matches; it is found by its text alone.",
		"Mend the line; an editor's YAML mode shows more.",
	},
	{
		MissingFields, Warning, "Title, keywords or summary is missing",
		"Without keywords or aliases no lookup matches the document by name, not even by its title; the summary is what answers show first and weighs in ranking.",
		"Add the fields to the front matter.",
	},
	{
		FrontMatter, Warning, "Something in the front matter is lost or misread",
		"The field is dropped, cut, or not what its author meant.",
		"Mend the line.",
	},
	{
		NoFrontMatter, Note, "No front matter",
		"The document is found by its text alone: no lookup matches it by name, so no answer from it has high confidence.",
		"Add title, keywords and summary between two --- lines at the top.",
	},
	{
		SectionMissing, Error, "A name in `sections` stands for a heading that does not exist",
		"The name is offered as a section but asking for it gives the whole document.",
		"Write the heading as it stands in the text, or take the entry out.",
	},
	{
		SharedName, Warning, "Several documents carry the same keyword or alias",
		"A query for it matches all of them, so that it is never a unique match and never answered with high confidence.",
		"Keep the name on the document it means; give the others longer names of their own.",
	},
	{
		ContainedName, Note, "A keyword or alias is part of other documents' names",
		"A query with one of those names matches this document as well, which makes a unique match two.",
		"Use a longer name that says what this document alone is about.",
	},
	{
		WeakKeyword, Warning, "A keyword says too little, or nobody would type it",
		"It matches queries about anything, or none.",
		"Replace it by a word that somebody with this problem would type.",
	},
	{
		DuplicateTitle, Warning, "Several documents have the same title",
		"Answers and result lists cannot be told apart, and the title matches all of them.",
		"Say in each title what is different.",
	},
	{
		TitleUnfindable, Warning, "No lookup can find the document by its title",
		"People ask for a document by its title first.",
		"Give it a title with words in it.",
	},
	{
		WeakTitle, Note, "The title is only the file name",
		"Titles weigh most in ranking and are shown in answers; a file name has no words a person would ask with.",
		"Write a title as a person would say it.",
	},
	{
		WeakSummary, Note, "The summary repeats the title",
		"Summaries weigh in ranking; this one adds nothing.",
		"Say in one sentence what the document answers.",
	},
	{
		EmptyDocument, Warning, "No text below the front matter",
		"There is nothing to answer with.",
		"Write the text, or delete the file.",
	},
	{
		DeadLink, Warning, "A relative link leads to a file that does not exist",
		"Lookups do not follow links, but readers of an answer do.",
		"Correct the path, or remove the link.",
	},
	{
		DeadAnchor, Warning, "A link leads to a heading that does not exist",
		"The reader lands at the top of the page.",
		"Correct the part after #, or remove it.",
	},
	{
		NotText, Error, "The file is not text",
		"It is not indexed at all.",
		"Save it as UTF-8, or give it another extension.",
	},
	{
		TooLarge, Error, "The file is larger than knowledge.max_file_size",
		"It is not indexed at all.",
		"Split it, or raise knowledge.max_file_size.",
	},
	{
		NotRead, Warning, "The file or folder cannot be read",
		"It is not indexed at all.",
		"Make it readable, or name it in .knowledgeignore.",
	},
	{
		ConflictCopy, Warning, "A sync client's conflict copy",
		"It is not indexed: what is only in it cannot be found.",
		"Compare it with the document, take over what is missing, and delete it.",
	},
	{
		SynonymsBroken, Error, "An entry of .synonyms.yaml, or all of it, cannot be read",
		"The entry is left out. Where the file is no YAML at all, a daemon keeps the last one it could read.",
		"Write a group as `- [k8s, kubernetes]`, and words that lead to another but not back as `- 支付: [付款, 缴费]`.",
	},
	{
		SynonymPointless, Warning, "A synonym that changes nothing",
		"The words are the same to a lookup already, or another entry says it.",
		"Take it out.",
	},
}

func ruleOf(id string) Rule {
	return Rules[slices.IndexFunc(Rules, func(r Rule) bool { return r.ID == id })]
}
