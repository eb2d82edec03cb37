// How the site's search orders its results. Sphinx puts this into language_data.js; tools/search.py measures it.
// A page whose title has the words of the query comes first; guides come before the reference, unless a name is asked for.
const PER_TITLE_WORD = 12;
const GUIDE = 6;

var Scorer = {
  score: ([docname, title, _anchor, _description, score]) => {
    const stemmer = new Stemmer();
    const stems = (text) => splitQuery(text.toLowerCase()).map((word) => stemmer.stemWord(word));
    const query = stems(new URLSearchParams(location.search).get("q") ?? "").filter((word) => !stopwords.has(word));
    const words = new Set(stems(title));
    const share = query.filter((word) => words.has(word)).length / Math.max(1, query.length);
    return score + PER_TITLE_WORD * share + (docname.startsWith("reference/") ? 0 : GUIDE);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};
