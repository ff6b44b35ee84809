// Sort a table by a click on its head. Without this script the tables read the same, unsorted.
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

  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("figure details").forEach(function (item) { item.open = true; });
  });
})();
