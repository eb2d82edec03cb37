// The filter box of the equation index: it keeps the rows that contain every word.
const box = document.getElementById("equation-filter");
const input = box.querySelector("input");
const rows = [...document.querySelectorAll("tr:has(a[id])")].map((row) => {
  const place = row.querySelector("a[id]").id.split("-")[0];
  return { row, text: `${place} ${row.textContent}`.toLowerCase() };
});

function filter() {
  const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
  let count = 0;
  for (const { row, text } of rows) {
    row.hidden = !words.every((word) => text.includes(word));
    count += !row.hidden;
  }
  for (const section of document.querySelectorAll("section section")) {
    section.hidden = words.length > 0 && !section.querySelector("tr:has(a[id]):not([hidden])");
  }
  box.querySelector("output").value = words.length ? `${count} of ${rows.length}` : "";
}

// A link to an equation shows its row, whatever was filtered before.
function show() {
  const target = document.getElementById(location.hash.slice(1));
  if (target?.closest("tr")?.hidden) {
    input.value = "";
    filter();
    target.scrollIntoView();
  }
}

box.hidden = false;
input.addEventListener("input", filter);
addEventListener("hashchange", show);
