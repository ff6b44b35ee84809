// The calculator: one request on up to four models, by the laws generated above. Everything it
// knows of models, GPUs, prices and assumptions stands in the page's data block, compressed.
function calculatorOf(tables) {
  "use strict";

  var data = tablesOf(tables);
  var form = document.getElementById("calculator-form");
  var picture = document.getElementById("calculator-picture");
  var COLUMNS = 4;
  var NUMBERS = ["input", "cached", "output", "batch", "tariff", "host", "idle", "pue", "grid"];
  var DASHES = ["", "8 4", "2 3", "10 3 2 3"];

  function tablesOf(packed) {
    var tables = {};
    Object.keys(packed).forEach(function (name) {
      tables[name] = packed[name].rows.map(function (row) {
        var item = {};
        packed[name].columns.forEach(function (column, index) { item[column] = row[index]; });
        return item;
      });
    });
    return tables;
  }

  function find(rows, name, value) {
    return rows.filter(function (row) { return row[name] === value; })[0];
  }

  function assumed(name) { return find(data.assumptions, "assumption", name).value; }

  // A GPU without coefficients of its own borrows the default set, as in the report.
  function setOf(gpu) {
    var own = data.coefficient_sets.filter(function (set) { return set.gpu === gpu; });
    var pool = own.length ? own : data.coefficient_sets;
    return pool.slice().sort(function (a, b) {
      return (b.gpu === "H100-SXM") - (a.gpu === "H100-SXM") || b.is_default - a.is_default ||
        (a.coefficient_set_id < b.coefficient_set_id ? -1 : 1);
    })[0];
  }

  function biasOf(architecture_class, set_id) {
    var rows = data.bias_factors.filter(function (row) {
      return row.architecture_class === architecture_class;
    });
    return find(rows, "coefficient_set_id", set_id) || find(rows, "coefficient_set_id", "*") ||
      { bias_factor: 1, bias_low: 1, bias_high: 1 };
  }

  function gpusFor(held_weight_bytes, memory_gb) {
    var wanted = held_weight_bytes * (1 + assumed("weights_headroom_frac")) / (memory_gb * 1e9);
    return Math.pow(2, Math.max(Math.ceil(Math.log2(wanted)), 0));
  }

  function geometricMean(values) {
    var first = values[0];
    if (values.every(function (value) { return value === first; })) { return first; }
    if (Math.min.apply(null, values) <= 0) { return 0; }
    var logs = values.map(Math.log);
    return Math.exp(logs.reduce(function (a, b) { return a + b; }, 0) / values.length);
  }

  function servedOn(model, gpu, set) {
    var memory_gb = find(data.gpus, "gpu", gpu).memory_gb;
    return model.served_as.map(function (pair) {
      var arch = data.architectures[pair[0]];
      var held = weight_bytes(
        pair[1],
        arch.mixing_params + arch.held_ffn_params + arch.head_params * (arch.has_tied_embeddings ? 1 : 2)
      );
      return {
        arch: arch, bytes_per_weight: pair[1], held_weight_bytes: held, memory_gb: memory_gb,
        gpu_count: gpusFor(held, memory_gb), bias: biasOf(arch.architecture_class, set.coefficient_set_id)
      };
    });
  }

  function roomOf(served, context_tokens) {
    return Math.min.apply(null, served.map(function (one) {
      return batch_max(
        assumed("gpu_memory_usable_frac"), one.gpu_count, one.memory_gb, one.held_weight_bytes,
        one.arch.kv_bytes_per_position, context_tokens, one.arch.state_bytes
      );
    }));
  }

  // What one request has to do on one architecture, whatever it takes per operation and byte.
  function workOn(one, n, k, m, batch) {
    var arch = one.arch;
    var body = arch.mixing_params + arch.active_ffn_params;
    var touched = ffn_params(
      arch.layers, arch.dense_layers, arch.hidden, arch.ffn_matrices, arch.dense_ffn, arch.expert_ffn,
      arch.experts > 0 ? experts_touched(arch.experts, arch.active_experts, batch) : 0, arch.shared_ffn
    );
    var pass = weight_bytes(one.bytes_per_weight, arch.mixing_params + touched + arch.head_params);
    return {
      body: body, batch: batch, gpu_passes: m * one.gpu_count,
      prefill_flop: prefill_flop(
        body, arch.head_params, arch.attention_flop_per_pair, prefilled_tokens(n, k, 1),
        prefill_pairs(n, k, 1, 1), 1
      ),
      cache_bytes: kv_read_bytes(arch.kv_bytes_per_position, cache_positions(n, m, 1, 1, 1)) +
        state_moved_bytes(arch.state_bytes, m),
      attention_flop: decode_attention_flop(arch.attention_flop_per_pair, decode_pairs(n, m, 1, 1, 1)),
      decode_flop: decode_flop(body, arch.head_params, decode_steps(m, 1)),
      weight_bytes: weight_read_bytes(pass, m),
      layer_steps: layer_steps(arch.layers, m, one.gpu_count)
    };
  }

  // Its three energies; a draw scales the coefficients, the report's own world has ratios of 1.
  var AS_FITTED = { a_ratio: 1, b_ratio: 1, c_ratio: 1, s_ratio: 1 };

  function termsOf(todo, set, draw) {
    var a = draw.a_ratio * set.a_j_per_flop;
    return [
      prefill_energy_j(a, todo.prefill_flop),
      kv_cache_energy_j(a, draw.b_ratio * set.b_j_per_kv_byte, todo.cache_bytes, todo.attention_flop),
      next_token_energy_j(
        a, draw.c_ratio * set.c_j_per_weight_byte, draw.s_ratio * set.s_j_per_layer_step,
        draw.s_ratio * set.s_j_per_step, todo.decode_flop, todo.weight_bytes, todo.layer_steps,
        todo.gpu_passes, todo.batch
      )
    ];
  }

  function sum(values) { return values.reduce(function (a, b) { return a + b; }, 0); }

  function energyOn(one, set, n, k, m, batch) {
    var arch = one.arch;
    var todo = workOn(one, n, k, m, batch);
    var terms = termsOf(todo, set, AS_FITTED);
    var optimum = arch.kv_bytes_per_position > 0 ? optimum_output_tokens(
      set.a_j_per_flop, set.b_j_per_kv_byte, todo.body, arch.attention_flop_per_pair,
      arch.kv_bytes_per_position, n, k
    ) : null;
    return {
      todo: todo, prefill: terms[0], cache: terms[1], next: terms[2], all: sum(terms),
      optimum: optimum, bias: one.bias.bias_factor
    };
  }

  function quantile(values, part) {
    var sorted = values.slice().sort(function (a, b) { return a - b; });
    var place = (sorted.length - 1) * part, under = Math.floor(place);
    var over = Math.min(under + 1, sorted.length - 1);
    return sorted[under] + (sorted[over] - sorted[under]) * (place - under);
  }

  var LOW = 0.05, HIGH = 0.95;
  var stackLogs = pluck(data.joint_draws, "stack_ratio").map(Math.log);
  var STACK_LOW = quantile(stackLogs, LOW), STACK_HIGH = quantile(stackLogs, HIGH);

  // How a class of architecture or a tier of closed models errs in each draw, as standard scores.
  function scoresOf(error_of) {
    var column = error_of + "_z_score";
    if (column in data.joint_draws[0]) { return pluck(data.joint_draws, column); }
    var logs = pluck(data.joint_draws, error_of + "_ratio").map(Math.log);
    var end = quantile(logs, HIGH);
    return logs.map(function (log) { return range_score(log, end); });
  }

  // The rules of the grades, as of a single request whose batch is told.
  function gradeOf(model, served, set, is_own_set, n, m, batch) {
    if (model.stand_in_tier) { return "D"; }
    function isNear(value, low, high) { return value >= low / 2 && value <= high * 2; }
    var ranks = served.map(function (one) {
      if (one.arch.architecture_class !== "dense" || one.bytes_per_weight < 2 || !is_own_set) { return 2; }
      return set.architecture_count >= 4 && one.gpu_count === 1 &&
        isNear(n, set.input_tokens_low, set.input_tokens_high) &&
        isNear(m, set.output_tokens_low, set.output_tokens_high) &&
        isNear(batch, set.batch_low, set.batch_high) ? 0 : 1;
    });
    return "ABC"[Math.max.apply(null, ranks)];
  }

  // The 5 % and the 95 % end over the joint draws, and the grade; an A that spreads too far is a B.
  function rangeOf(model, served, each, set, value, grade) {
    var ratios = find(data.grade_ranges, "evidence_grade", grade);
    var alone = each.map(function (one) { return one.all * one.bias / value; });
    var biases = pluck(served, "bias");
    var low = Math.log(Math.min.apply(null, [ratios.low_ratio].concat(alone, biases.map(function (one) {
      return one.bias_low / one.bias_factor;
    }))));
    var high = Math.log(Math.max.apply(null, [ratios.high_ratio].concat(alone, biases.map(function (one) {
      return one.bias_high / one.bias_factor;
    }))));
    var power = grade === "A" ? 0 : 1;
    var own_low = Math.exp(-Math.sqrt(Math.max(low * low - power * STACK_LOW * STACK_LOW, 0)));
    var own_high = Math.exp(Math.sqrt(Math.max(high * high - power * STACK_HIGH * STACK_HIGH, 0)));
    var scores = scoresOf(model.stand_in_tier || served[0].arch.architecture_class);
    var drawn = data.joint_draws.map(function (draw, index) {
      var world = geometricMean(each.map(function (one) { return one.bias * sum(termsOf(one.todo, set, draw)); }));
      return world * (power ? draw.stack_ratio : 1) * drawn_value(1, own_low, own_high, scores[index]);
    });
    var ends = [Math.min(quantile(drawn, LOW), value), Math.max(quantile(drawn, HIGH), value)];
    var is_wide = grade === "A" && ends[1] - ends[0] > 2 * assumed("grade_a_half_width_frac") * value;
    return { energy_low_j: ends[0], energy_high_j: ends[1], evidence_grade: is_wide ? "B" : grade };
  }

  function pluck(rows, name) { return rows.map(function (row) { return row[name]; }); }

  function priceOf(model_id, n) {
    return data.prices.filter(function (row) {
      return row.model_id === model_id && n >= row.input_tokens_from && n < row.input_tokens_to;
    })[0];
  }

  // One request on one model, without its range: the same rules as `joulebook estimate`.
  function middleOf(asked) {
    var model = find(data.models, "model_id", asked.model);
    var gpu = asked.gpu || "H100-SXM";
    var set = setOf(gpu);
    var served = servedOn(model, gpu, set);
    var n = asked.input, m = asked.output, k = Math.min(asked.cached, n - 1);
    var room = roomOf(served, n + m);
    if (room < 1) { return { model_id: asked.model, fits: false }; }
    var batch = Math.min(asked.batch, room);
    var each = served.map(function (one) { return energyOn(one, set, n, k, m, batch); });
    var law = geometricMean(pluck(each, "all"));
    var terms = ["prefill", "cache", "next"].map(function (name) { return geometricMean(pluck(each, name)); });
    var scale = each.length === 1 ? 1 : law / (terms[0] + terms[1] + terms[2]);
    var value = geometricMean(each.map(function (one) { return one.all * one.bias; }));
    var optima = pluck(each, "optimum").filter(function (one) { return one !== null; });
    var price = priceOf(asked.model, n);
    var kwh = facility_energy_kwh(value, asked.host * asked.idle * asked.pue);
    return {
      parts: { model: model, served: served, each: each, set: set, n: n, m: m },
      model_id: asked.model, fits: true, effective_batch: batch, gpu_count: Math.max.apply(null, pluck(served, "gpu_count")),
      coefficient_set_id: set.coefficient_set_id, is_own_set: set.gpu === gpu,
      prefill_energy_j: terms[0] * scale, kv_cache_energy_j: terms[1] * scale,
      next_token_energy_j: terms[2] * scale, energy_j: law,
      bias_factor: geometricMean(pluck(each, "bias")), gpu_energy_j: value,
      facility_energy_kwh: kwh, carbon_gco2e: kwh * asked.grid, energy_cost_usd: kwh * asked.tariff,
      list_cost_usd: price ? (
        (n - asked.cached) * price.uncached_input_usd_per_mtok +
        asked.cached * price.cache_read_usd_per_mtok + m * price.output_usd_per_mtok
      ) / 1e6 : null,
      optimum_output_tokens: optima.length ? geometricMean(optima) : null,
      is_beyond_context: model.context_tokens !== null && n + m > model.context_tokens,
      stand_ins: model.stand_in_tier ? model.served_as.map(function (pair) { return data.architectures[pair[0]].architecture_id; }) : []
    };
  }

  function estimate(asked) {
    var answer = middleOf(asked), parts = answer.parts;
    if (!answer.fits) { return answer; }
    delete answer.parts;
    return Object.assign(answer, rangeOf(
      parts.model, parts.served, parts.each, parts.set, answer.gpu_energy_j,
      gradeOf(parts.model, parts.served, parts.set, answer.is_own_set, parts.n, parts.m, answer.effective_batch)
    ));
  }

  // Below: the form, the table and the curve.

  function field(name) { return form.elements[name]; }

  function number(name) { return parseFloat(field(name).value); }

  function asked(model) {
    var question = { model: model, gpu: field("gpu").value };
    NUMBERS.forEach(function (name) { question[name] = number(name); });
    return question;
  }

  function fault() {
    var wrong = NUMBERS.filter(function (name) { return !field(name).validity.valid || isNaN(number(name)); })[0];
    if (wrong) { return form.querySelector("label[for=" + field(wrong).id + "]").textContent.trim() + ": " + words.out_of_range; }
    if (number("cached") > number("input")) { return words.too_many_cached; }
    return "";
  }

  function shown(value) {
    if (value === null || value === undefined) { return "–"; }
    if (value === 0) { return "0"; }
    if (typeof value === "string") { return value; }
    var size = Math.abs(value);
    if (size >= 1e7 || size < 1e-4) { return value.toExponential(3).replace("-", "−"); }
    return Number(value.toPrecision(4)).toLocaleString(document.documentElement.lang, { maximumSignificantDigits: 4 });
  }

  var LINES = [
    ["prefill", "J", function (one) { return one.prefill_energy_j; }],
    ["cache", "J", function (one) { return one.kv_cache_energy_j; }],
    ["next", "J", function (one) { return one.next_token_energy_j; }],
    ["law", "J", function (one) { return one.energy_j; }],
    ["bias", "", function (one) { return one.bias_factor; }],
    ["gpu", "J", function (one) { return one.gpu_energy_j; }],
    ["low", "J", function (one) { return one.energy_low_j; }],
    ["high", "J", function (one) { return one.energy_high_j; }],
    ["grade", "", function (one) { return one.evidence_grade; }],
    ["facility", "Wh", function (one) { return one.facility_energy_kwh * 1000; }],
    ["carbon", "g CO₂e", function (one) { return one.carbon_gco2e; }],
    ["electricity", "USD", function (one) { return one.energy_cost_usd; }],
    ["price", "USD", function (one) { return one.list_cost_usd; }],
    ["batch", "", function (one) { return one.effective_batch; }],
    ["count", "", function (one) { return one.gpu_count; }],
    ["optimum", words.tokens, function (one) { return one.optimum_output_tokens; }]
  ];

  function made(tag, text, names) {
    var item = document.createElement(tag);
    if (text !== undefined) { item.textContent = text; }
    Object.keys(names || {}).forEach(function (name) { item.setAttribute(name, names[name]); });
    return item;
  }

  function chosen() {
    var names = [];
    for (var index = 1; index <= COLUMNS; index += 1) {
      if (field("model" + index).value) { names.push(field("model" + index).value); }
    }
    return names;
  }

  function draw(answers) {
    var table = document.getElementById("calculator-table");
    var head = made("tr");
    head.append(made("th", words.line, { scope: "col" }));
    answers.forEach(function (one) { head.append(made("th", one.model_id, { scope: "col", "class": "number" })); });
    table.tHead.replaceChildren(head);
    table.tBodies[0].replaceChildren.apply(table.tBodies[0], LINES.map(function (line) {
      var row = made("tr");
      var label = made("th", words[line[0]], { scope: "row" });
      if (line[1]) { label.append(" ", made("span", line[1], { "class": "unit inline" })); }
      row.append(label);
      answers.forEach(function (one) {
        row.append(made("td", one.fits ? shown(line[2](one)) : words.full, { "class": "number" }));
      });
      return row;
    }));
  }

  function notes(answers) {
    var lines = [];
    answers.forEach(function (one) {
      if (!one.fits) { lines.push(one.model_id + ": " + words.full_note); return; }
      if (!one.is_own_set) { lines.push(one.model_id + ": " + words.borrowed_note + " " + one.coefficient_set_id + "."); }
      if (one.effective_batch < number("batch")) { lines.push(one.model_id + ": " + words.capped_note + " " + shown(one.effective_batch) + "."); }
      if (one.is_beyond_context) { lines.push(one.model_id + ": " + words.context_note); }
      if (one.stand_ins.length) { lines.push(one.model_id + ": " + words.stand_in_note + " " + one.stand_ins.join(", ") + "."); }
    });
    var list = document.getElementById("calculator-notes");
    list.replaceChildren.apply(list, lines.map(function (line) { return made("li", line); }));
  }

  function svg(tag, names, text) {
    var item = document.createElementNS(picture.namespaceURI, tag);
    Object.keys(names).forEach(function (name) { item.setAttribute(name, names[name]); });
    if (text !== undefined) { item.textContent = text; }
    return item;
  }

  // Energy per output token against output tokens, both by factors; the lowest point is marked.
  function curves(answers) {
    var width = 720, height = 340, left = 64, right = 24, top = 22, bottom = 60;
    var most = Math.max(4 * number("output"), 64);
    answers.forEach(function (one) { most = Math.max(most, 4 * (one.optimum_output_tokens || 1)); });
    var lines = answers.filter(function (one) { return one.fits; }).map(function (one) {
      var points = [];
      for (var step = 0; step <= 60; step += 1) {
        var question = asked(one.model_id);
        question.output = Math.max(1, Math.round(Math.pow(most, step / 60)));
        var answer = middleOf(question);
        if (answer.fits) { points.push([question.output, answer.gpu_energy_j / question.output]); }
      }
      return { name: one.model_id, points: points };
    });
    var all = [].concat.apply([], lines.map(function (line) { return pluck(line.points, 1); }));
    if (!all.length) { picture.replaceChildren(); return; }
    var low = Math.min.apply(null, all), high = Math.max.apply(null, all);
    if (low === high) { high = low * 2; }
    function x(value) { return left + (width - left - right) * Math.log(value) / Math.log(most); }
    function y(value) { return top + (height - top - bottom) * (1 - Math.log(value / low) / Math.log(high / low)); }
    var parts = [];
    for (var power = 0; Math.pow(10, power) <= most; power += 1) {
      var at = x(Math.pow(10, power));
      parts.push(svg("line", { x1: at, x2: at, y1: top, y2: height - bottom, "class": "grid" }));
      parts.push(svg("text", { x: at, y: height - bottom + 16, "text-anchor": "middle" }, shown(Math.pow(10, power))));
    }
    [low, Math.sqrt(low * high), high].forEach(function (value) {
      parts.push(svg("line", { x1: left, x2: width - right, y1: y(value), y2: y(value), "class": "grid" }));
      parts.push(svg("text", { x: left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value)));
    });
    parts.push(svg("text", { x: width - right, y: height - 8, "text-anchor": "end" }, words.x_axis));
    parts.push(svg("text", { x: left, y: 12, "text-anchor": "start" }, words.y_axis));
    var taken = [];
    lines.forEach(function (line, index) {
      var path = line.points.map(function (point) { return x(point[0]).toFixed(1) + "," + y(point[1]).toFixed(1); });
      parts.push(svg("polyline", { points: path.join(" "), "class": "curve curve" + (index + 1), "stroke-dasharray": DASHES[index] }));
      var lowest = line.points.reduce(function (a, b) { return b[1] < a[1] ? b : a; });
      parts.push(svg("circle", { cx: x(lowest[0]), cy: y(lowest[1]), r: 5, "class": "curve curve" + (index + 1) }));
      var place = y(lowest[1]) - 10;
      while (taken.some(function (other) { return Math.abs(other - place) < 14; })) { place -= 14; }
      taken.push(place);
      parts.push(svg("text", { x: width - right, y: place, "text-anchor": "end", "class": "label" }, (index + 1) + " " + line.name));
      parts.push(svg("text", { x: x(lowest[0]), y: y(lowest[1]) + 18, "text-anchor": "middle", "class": "label" }, index + 1));
    });
    picture.setAttribute("viewBox", "0 0 " + width + " " + height);
    picture.replaceChildren.apply(picture, parts);
  }

  function fragment() {
    var pairs = NUMBERS.map(function (name) { return name + "=" + field(name).value; });
    pairs.push("gpu=" + encodeURIComponent(field("gpu").value));
    pairs.push("models=" + chosen().map(encodeURIComponent).join(","));
    return "#calculator&" + pairs.join("&");
  }

  function restore() {
    if (location.hash.indexOf("#calculator&") !== 0) { return; }
    location.hash.slice("#calculator&".length).split("&").forEach(function (pair) {
      var name = pair.split("=")[0], value = pair.slice(name.length + 1);
      if (NUMBERS.indexOf(name) >= 0 && isFinite(parseFloat(value))) { field(name).value = parseFloat(value); }
      if (name === "gpu" && find(data.gpus, "gpu", decodeURIComponent(value))) { field("gpu").value = decodeURIComponent(value); }
      if (name === "models") {
        value.split(",").slice(0, COLUMNS).forEach(function (text, index) {
          var id = decodeURIComponent(text);
          field("model" + (index + 1)).value = find(data.models, "model_id", id) ? id : "";
        });
      }
    });
    document.getElementById("calculator").scrollIntoView();
  }

  function refresh() {
    var wrong = fault();
    var said = document.getElementById("calculator-said");
    if (wrong) { said.textContent = wrong; return null; }
    var answers = chosen().map(function (model) { return estimate(asked(model)); });
    draw(answers);
    notes(answers);
    curves(answers);
    said.textContent = answers.filter(function (one) { return one.fits; }).map(function (one) {
      return one.model_id + ": " + shown(one.gpu_energy_j) + " J (" + shown(one.energy_low_j) + " – " +
        shown(one.energy_high_j) + "), " + words.grade + " " + one.evidence_grade;
    }).join("; ");
    return answers;
  }

  function options(select, values, none) {
    if (none) { select.append(made("option", none, { value: "" })); }
    values.forEach(function (value) { select.append(made("option", value, { value: value })); });
  }

  var names = pluck(data.models, "model_id");
  for (var index = 1; index <= COLUMNS; index += 1) { options(field("model" + index), names, words.none); }
  options(field("gpu"), pluck(data.gpus, "gpu"), words.default_gpu);
  (form.getAttribute("data-models") || "").split("|").forEach(function (name, index) {
    if (name) { field("model" + (index + 1)).value = name; }
  });
  form.hidden = false;
  document.getElementById("calculator-results").hidden = false;
  restore();
  refresh();
  form.addEventListener("submit", function (event) { event.preventDefault(); });
  form.addEventListener("input", function () {
    if (refresh()) {
      try { history.replaceState(null, "", fragment()); } catch (error) { location.replace(fragment()); }
    }
  });
  window.addEventListener("hashchange", function () { restore(); refresh(); });
  form.joulebookEstimate = function (question) { return estimate(question); };
}

(function () {
  "use strict";

  var block = document.getElementById("calculator-data");
  if (!block) { return; }
  if (typeof DecompressionStream === "undefined") {
    document.getElementById("calculator-old").hidden = false;
    return;
  }
  var bytes = Uint8Array.from(atob(block.textContent), function (sign) { return sign.charCodeAt(0); });
  var unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  new Response(unpacked).json().then(calculatorOf);
})();
