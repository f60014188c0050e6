// The wall: draws each frame that the server sends. Text from outside goes in by textContent alone.
"use strict";

const LATE_S = 5; // beyond the interval between frames
const MOST_POINTS = 600;
const GIB = 2 ** 30;
const HUES = ["#4cb37a", "#5a9be0", "#e0a53c", "#ec5f55", "#a57be0", "#3fb8c4", "#d36fae", "#9aa65a"];

const byId = (id) => document.getElementById(id);
let last = null; // the last frame, and when it arrived by this browser's clock
let arrived = 0;
let past = []; // [time, {index: [utilization, memory]}]
let plots = [];

function element(name, text = "", kind = "") {
  const made = document.createElement(name);
  made.textContent = text;
  made.className = kind;
  return made;
}

function ago(seconds) {
  const s = Math.max(0, Math.round(seconds));
  if (s < 60) return `${s} s`;
  if (s < 3600) return `${Math.floor(s / 60)} min`;
  return s < 86400 ? `${Math.floor(s / 3600)} h ${Math.floor((s % 3600) / 60)} min` : `${Math.floor(s / 86400)} d`;
}

const clock = (time) => new Date(time * 1000).toLocaleTimeString([], { hour12: false });
const gib = (bytes) => (bytes === null ? "–" : `${(bytes / GIB).toFixed(bytes < 100 * GIB ? 1 : 0)}`);
const number = (value, unit) => (value === null ? "–" : `${Math.round(value)}${unit}`);

function drawFindings(frame) {
  const items = frame.findings.map((one) => {
    const item = element("li", "", one.stage);
    const line = element("strong");
    line.append(element("span", one.stage, "stage"), ` ${one.subject} · ${one.summary}`);
    item.append(line, element("small", `since ${ago(frame.time_s - one.since_s)} · ${one.remedy}`));
    return item;
  });
  if (!items.length) {
    const judged = frame.judged_in_s === null;
    const rest = judged ? "" : ` All detectors can judge in ${ago(frame.judged_in_s)}.`;
    items.push(element("li", judged ? "Nothing is wrong." : `Nothing is found so far.${rest}`));
  }
  byId("findings").replaceChildren(...items);
}

function bar(kind, label, percent, text, why) {
  const row = element("div", "", `bar ${kind}`);
  let middle = element("span", why, "quiet");
  if (percent !== null) {
    middle = element("div", "", "track");
    middle.appendChild(element("div", "", "fill")).style.width = `${percent}%`;
  }
  row.append(element("span", label, "quiet"), middle, element("output", text));
  return row;
}

function drawGpu(gpu) {
  const item = element("li");
  const name = element("div", "", "name");
  name.append(element("b", `GPU ${gpu.index}`), element("span", gpu.name));
  item.append(name);
  if (gpu.state) {
    item.append(element("p", gpu.state, "wrong"));
    return item;
  }
  const [memoryTone, temperatureTone] = gpu.tones;
  const memory = bar(
    "memory", "memory", gpu.memory_percent, `${gib(gpu.memory_used_bytes)} / ${gib(gpu.memory_total_bytes)} GiB`,
    gpu.missing.memory_used_bytes ?? "",
  );
  memory.lastChild.classList.add(memoryTone);
  const more = element("p");
  const heat = element("span", number(gpu.temperature_c, " °C"), temperatureTone);
  const power = ` · ${number(gpu.power_w, " W")} of ${number(gpu.power_limit_w, " W")} · `;
  const who = gpu.is_free ? element("span", "free", "free") : element("span", gpu.users.join(", ") || "no process");
  more.append(heat, power, who);
  const load = gpu.utilization_percent;
  item.append(bar("load", "load", load, number(load, " %"), gpu.missing.gpu_utilization_percent ?? ""), memory, more);
  return item;
}

function drawUsers(users) {
  const rows = users.map((user) => {
    const row = element("tr");
    const name = element("td", user.name);
    for (const command of user.commands ?? []) name.append(element("code", command));
    const memory = user.memory_bytes === null ? "not known" : `${gib(user.memory_bytes)} GiB`;
    row.append(name, element("td", user.gpus.join(" ")), element("td", memory), element("td", `${user.processes}`));
    return row;
  });
  if (!rows.length) {
    const row = element("tr");
    const cell = element("td", "no processes on these GPUs");
    cell.colSpan = 4;
    row.append(cell);
    rows.push(row);
  }
  byId("users").tBodies[0].replaceChildren(...rows);
}

function drawPlots() {
  const indices = last.gpus.map((gpu) => gpu.index);
  const names = JSON.stringify(indices);
  if (plots.length === 0 || plots.names !== names) {
    byId("plots").replaceChildren();
    plots = ["utilization", "memory"].map((title) => made(title, indices));
    plots.names = names;
  }
  const times = past.map((point) => point[0]);
  plots.forEach((plot, which) => {
    plot.setData([times, ...indices.map((index) => past.map((point) => point[1][index]?.[which] ?? null))]);
  });
}

function made(title, indices) {
  const place = byId("plots").appendChild(element("div"));
  const ink = getComputedStyle(document.body);
  const axis = { stroke: ink.getPropertyValue("--quiet"), grid: { stroke: ink.getPropertyValue("--line"), width: 1 } };
  const options = {
    title,
    width: place.clientWidth,
    height: 180,
    scales: { y: { range: [0, 100] } },
    legend: { live: false },
    axes: [{ ...axis, values: (_, times) => times.map(clock) }, axis],
    series: [
      {},
      ...indices.map((index, n) => ({
        label: `GPU ${index}`, stroke: HUES[n % HUES.length], width: 1.5, dash: n < HUES.length ? [] : [4, 3],
        points: { show: false },
      })),
    ],
  };
  return new uPlot(options, [[], ...indices.map(() => [])], place);
}

function draw(frame) {
  document.title = `${frame.host}: ${frame.findings.filter((one) => one.stage === "alarm").length} alarms`;
  byId("host").textContent = frame.host + (frame.simulated ? ` (simulated: ${frame.simulated})` : "");
  byId("free").textContent = frame.free;
  drawFindings(frame);
  byId("gpus").replaceChildren(...frame.gpus.map(drawGpu));
  drawUsers(frame.users);
  drawPlots();
  byId("problems").replaceChildren(...frame.problems.map((problem) => element("li", problem)));
  byId("problems-section").hidden = frame.problems.length === 0;
}

function drawAge() {
  const age = (performance.now() - arrived) / 1000;
  const isLate = last === null || age > last.interval_s + LATE_S;
  document.body.classList.toggle("late", isLate && last !== null);
  byId("age").classList.toggle("late", isLate);
  if (last !== null) byId("age").textContent = isLate ? `no news for ${ago(age)}` : "live";
}

const events = new EventSource("events");
events.addEventListener("past", (event) => { past = JSON.parse(event.data); });
events.addEventListener("frame", (event) => {
  last = JSON.parse(event.data);
  arrived = performance.now();
  past.push([last.time_s, Object.fromEntries(last.gpus.map((gpu) => [gpu.index, [gpu.utilization_percent, gpu.memory_percent]]))]);
  past = past.slice(-MOST_POINTS);
  draw(last);
  drawAge();
});
events.addEventListener("error", () => {
  if (last === null) byId("age").textContent = "no connection: is gputop serve running?";
});
setInterval(drawAge, 1000);
addEventListener("resize", () => { for (const plot of plots) plot.setSize({ width: byId("plots").clientWidth, height: 180 }); });
