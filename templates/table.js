// Sort a table by a click on its head, filter its rows, turn its pages, copy it as CSV. Without this
// script, and in print, all rows are there and read the same.
var words = JSON.parse(document.getElementById("page-words").textContent);

// A text with the values for the names in its braces.
function filled(text, values) {
  return text.replace(/\{(\w+)\}/g, function (whole, name) { return values[name]; });
}

(function () {
  "use strict";

  var PAGE_ROWS = 200;
  var LEAST_ROWS_TO_FILTER = 8;

  function numberOf(text) {
    var plain = text.split(words.marks.group).join("").replace(words.marks.decimal, ".");
    plain = plain.replace(/[%\s]/g, "").replace(/−/g, "-");
    var edge = plain[0] === "<" ? -1e-9 : plain[0] === ">" ? 1e-9 : 0;
    return parseFloat(plain.replace(/^[<>]/, "")) + edge;
  }

  function made(tag, text) {
    var item = document.createElement(tag);
    if (text) { item.textContent = text; }
    if (tag === "button") { item.type = "button"; }
    return item;
  }

  function compare(a, b, isNumber) {
    return isNumber ? a - b : a.localeCompare(b, document.documentElement.lang, { numeric: true });
  }

  function sort(table, head) {
    var index = head.cellIndex;
    var isNumber = !table.classList.contains("t" + (index + 1));
    var before = head.getAttribute("aria-sort");
    var isUp = before ? before === "descending" : !isNumber;
    var keyed = Array.from(table.tBodies[0].rows).map(function (row) {
      var text = row.cells[index].textContent.trim();
      return { row: row, key: isNumber ? numberOf(text) : text };
    });
    var known = keyed.filter(function (item) { return item.key === item.key; });
    var unknown = keyed.filter(function (item) { return item.key !== item.key; });
    known.sort(function (a, b) { return compare(a.key, b.key, isNumber) * (isUp ? 1 : -1); });
    table.tBodies[0].append.apply(
      table.tBodies[0], known.concat(unknown).map(function (item) { return item.row; })
    );
    Array.from(head.parentNode.cells).forEach(function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  }

  function filter(table, wanted) {
    var parts = wanted.toLowerCase().split(/\s+/);
    Array.from(table.tBodies[0].rows).forEach(function (row) {
      var cells = Array.from(row.cells).map(function (cell) { return cell.textContent; });
      var text = cells.join("\n").toLowerCase();
      row.hidden = !parts.every(function (part) { return text.indexOf(part) >= 0; });
    });
  }

  function csvOf(table) {
    var rows = Array.from(table.rows).filter(function (row) { return !row.hidden; });
    return rows.map(function (row) {
      return Array.from(row.cells).map(function (cell) {
        var text = cell.textContent.replace(/\s+/g, " ").trim();
        return '"' + (/^[=+@\t\r-]/.test(text) ? "'" : "") + text.replace(/"/g, '""') + '"';
      }).join(",");
    }).join("\r\n") + "\r\n";
  }

  function copy(text) {
    var area = made("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    var isCopied = document.execCommand("copy");
    area.remove();
    return isCopied;
  }

  // Pages of rows, for tables longer than one; returns what shows a page.
  function pager(table, bar) {
    var first = 0;
    var before = made("button", words.before), after = made("button", words.after), said = made("span");
    said.setAttribute("role", "status");
    function show(from) {
      var rows = Array.from(table.tBodies[0].rows).filter(function (row) { return !row.hidden; });
      first = Math.max(0, from < rows.length ? from : first);
      rows.forEach(function (row, index) {
        row.classList.toggle("off", index < first || index >= first + PAGE_ROWS);
      });
      before.disabled = first === 0;
      after.disabled = first + PAGE_ROWS >= rows.length;
      said.textContent = filled(words.page_of, {
        first: Math.min(first + 1, rows.length), last: Math.min(first + PAGE_ROWS, rows.length), rows: rows.length
      });
    }
    function turn(step) { show(first + step * PAGE_ROWS); table.closest(".scroll").scrollTop = 0; }
    before.addEventListener("click", function () { turn(-1); });
    after.addEventListener("click", function () { turn(1); });
    bar.append(before, after, said);
    show(0);
    return show;
  }

  // What a head means, as a hint over it: from the list under the table or the one at the end.
  var meanings = {};
  function read(list) {
    var found = {};
    list.querySelectorAll("dl > div").forEach(function (pair) {
      found[pair.children[0].textContent] = pair.children[1].textContent;
    });
    return found;
  }
  if (document.getElementById("columns")) { meanings = read(document.getElementById("columns")); }

  document.querySelectorAll("table.sortable").forEach(function (table) {
    var count = table.tBodies[0].rows.length;
    var block = table.closest(".table-block"), heads = Array.from(table.tHead.rows[0].cells);
    var own = block ? read(block) : {};
    heads.forEach(function (head) {
      var text = head.firstChild ? head.firstChild.textContent.trim() : "";
      if (own[text] || meanings[text]) { head.title = own[text] || meanings[text]; }
    });
    if (count < 2) { return; }
    var bar = made("div"), show = function () {};
    bar.className = "tools";
    if (count >= LEAST_ROWS_TO_FILTER) {
      var label = made("label"), input = made("input");
      input.type = "search";
      input.addEventListener("input", function () { filter(table, input.value); show(0); });
      label.append(words.filter + " ", input);
      bar.append(label);
    }
    var button = made("button", words.copy), said = made("span");
    said.setAttribute("role", "status");
    button.addEventListener("click", function () {
      said.textContent = copy(csvOf(table)) ? words.copied : words.not_copied;
    });
    bar.append(button, said);
    table.parentNode.before(bar);
    if (count > PAGE_ROWS) { show = pager(table, bar); }
    heads.forEach(function (head) {
      var button = made("button");
      button.append.apply(button, Array.from(head.childNodes));
      head.append(button);
      button.addEventListener("click", function () { sort(table, head); show(0); });
    });
  });

  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("figure details").forEach(function (item) { item.open = true; });
  });
})();
