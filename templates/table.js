// Sort a table by a click on its head, filter its rows, copy them as CSV. Without this script the
// tables read the same.
(function () {
  "use strict";

  function numberOf(text) {
    var plain = text.replace(/[,%\s]/g, "").replace(/−/g, "-");
    var edge = plain[0] === "<" ? -1e-9 : plain[0] === ">" ? 1e-9 : 0;
    return parseFloat(plain.replace(/^[<>]/, "")) + edge;
  }

  function keyOf(row, index, isNumber) {
    var text = row.cells[index].textContent.trim();
    return isNumber ? numberOf(text) : text;
  }

  function compare(a, b, isNumber) {
    return isNumber ? a - b : a.localeCompare(b, "en", { numeric: true });
  }

  function sort(table, head) {
    var isNumber = head.classList.contains("number");
    var before = head.getAttribute("aria-sort");
    var isUp = before ? before === "descending" : !isNumber;
    var rows = Array.from(table.tBodies[0].rows);
    var keyed = rows.map(function (row) {
      return { row: row, key: keyOf(row, head.cellIndex, isNumber) };
    });
    var known = keyed.filter(function (item) { return item.key === item.key; });
    var unknown = keyed.filter(function (item) { return item.key !== item.key; });
    known.sort(function (a, b) { return compare(a.key, b.key, isNumber) * (isUp ? 1 : -1); });
    known.concat(unknown).forEach(function (item) { table.tBodies[0].appendChild(item.row); });
    Array.from(head.parentNode.cells).forEach(function (cell) { cell.removeAttribute("aria-sort"); });
    head.setAttribute("aria-sort", isUp ? "ascending" : "descending");
  }

  document.querySelectorAll("table.sortable").forEach(function (table) {
    if (table.tBodies[0].rows.length < 2) { return; }
    Array.from(table.tHead.rows[0].cells).forEach(function (head) {
      var button = document.createElement("button");
      button.type = "button";
      button.append.apply(button, Array.from(head.childNodes));
      head.append(button);
      button.addEventListener("click", function () { sort(table, head); });
    });
  });

  var LEAST_ROWS_TO_FILTER = 8;

  function csvOf(table) {
    var rows = Array.from(table.rows).filter(function (row) { return !row.hidden; });
    return rows.map(function (row) {
      return Array.from(row.cells).map(function (cell) {
        var text = cell.textContent.replace(/\s+/g, " ").trim();
        return '"' + (/^[=+@\t\r-]/.test(text) ? "'" : "") + text.replace(/"/g, '""') + '"';
      }).join(",");
    }).join("\r\n") + "\r\n";
  }

  function copy(text, done) {
    var area = document.createElement("textarea");
    area.value = text;
    document.body.append(area);
    area.select();
    var isCopied = document.execCommand("copy");
    area.remove();
    done(isCopied);
  }

  function filter(table, wanted) {
    var words = wanted.toLowerCase().split(/\s+/);
    Array.from(table.tBodies[0].rows).forEach(function (row) {
      var text = row.textContent.toLowerCase();
      row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
    });
  }

  document.querySelectorAll("table.sortable").forEach(function (table) {
    var count = table.tBodies[0].rows.length;
    if (count < 2) { return; }
    var bar = document.createElement("div");
    bar.className = "tools";
    if (count >= LEAST_ROWS_TO_FILTER) {
      var label = document.createElement("label");
      var input = document.createElement("input");
      input.type = "search";
      input.addEventListener("input", function () { filter(table, input.value); });
      label.append("Filter rows ", input);
      bar.append(label);
    }
    var button = document.createElement("button");
    var said = document.createElement("span");
    button.type = "button";
    button.textContent = "Copy as CSV";
    said.setAttribute("role", "status");
    button.addEventListener("click", function () {
      copy(csvOf(table), function (isCopied) { said.textContent = isCopied ? "Copied." : "Your browser does not allow it."; });
    });
    bar.append(button, said);
    table.parentNode.before(bar);
  });

  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("figure details").forEach(function (item) { item.open = true; });
  });
})();
