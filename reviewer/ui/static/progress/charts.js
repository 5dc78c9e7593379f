// The charts of the Progress tab as plain plotly figures: pure functions of the numbers and the colours.
// Each returns {traces, layout, legend, least}, or {none}: the text to show if there is nothing to draw.

import { t, tn, word } from '../common/language.js'
import { number } from '../common/format.js'

export const STATES = [
  'screening',
  'revision',
  'returned',
  'audit',
  'vote',
  'adjudication',
  'approved',
  'rejected',
  'cannot tell',
]
const ROUNDS = ['screening', 'revision', 'audit', 'vote', 'adjudication']
const DAY = 86_400_000
// With fewer days one bar would be as wide as the page.
const FEWEST_DAYS = 14
const ROW = 25
const LONGEST_NAME = 48

/** Items by task, stacked by state. */
export function byTask(figures, colours) {
  const rows = Object.keys(figures.by_task).map((task) => ({
    key: task,
    label: figures.tasks[task] ?? task,
    counts: figures.by_task[task],
    note: items(sum(figures.by_task[task])),
  }))
  rows.sort((a, b) => a.label.localeCompare(b.label))
  return stackedRows(rows, STATES, colours, (kind) => t('{kind}: {n} items', { kind, n: '%{x}' }), 70)
}

/** Decisions by person, stacked by round, with the number of versions they wrote. */
export function byPerson(figures, colours) {
  const people = [...new Set([...Object.keys(figures.by_person), ...Object.keys(figures.versions_by)])]
  const rows = people.map((person) => {
    const counts = figures.by_person[person] ?? {}
    const versions = figures.versions_by[person] ?? 0
    const decided = decisions(sum(counts))
    const note = versions ? t('{decisions}, {versions}', { decisions: decided, versions: written(versions) }) : decided
    return { key: person, label: person, counts, note }
  })
  if (!rows.length) return { none: t('No decisions yet. They appear here after the first decision in the Review tab.') }
  return stackedRows(rows, ROUNDS, colours, (kind) => t('{kind}: {n} decisions', { kind, n: '%{x}' }), 175)
}

/** Decisions per UTC day, stacked by round. */
export function perDay(figures, colours) {
  const days = Object.keys(figures.per_day).sort()
  if (!days.length) return { none: t('No decisions yet.') }
  const occurring = ROUNDS.filter((round) => days.some((day) => figures.per_day[day][round]))
  return {
    traces: occurring.map((round) =>
      dayBars(
        days,
        days.map((day) => figures.per_day[day][round] ?? 0),
        round,
        colours,
      ),
    ),
    layout: dayLayout(days, colours, t('Decisions')),
    legend: legend(occurring, colours),
  }
}

/** Decided items per UTC day by outcome, and the yield so far as a line. */
export function decidedPerDay(figures, colours) {
  const days = Object.keys(figures.decided_per_day).sort()
  if (!days.length) return { none: t('No item is approved or rejected yet. The yield is undefined until one is.') }
  const count = (verdict) => days.map((day) => figures.decided_per_day[day][verdict])
  const layout = dayLayout(days, colours, t('Items'))
  const yields = yieldSoFar(count('approved'), count('rejected'))
  return {
    traces: [
      dayBars(days, count('approved'), 'approved', colours),
      dayBars(days, count('rejected'), 'rejected', colours),
      dayBars(days, count('cannot_tell'), 'cannot tell', colours),
      {
        type: 'scatter',
        mode: 'lines+markers',
        name: t('yield so far'),
        yaxis: 'y2',
        x: days.map(noon),
        y: yields.map((y) => 100 * y),
        line: { color: colours.ink, width: 1.5 },
        marker: { size: 5, color: colours.ink },
        hovertemplate: `${t('{share} yield so far', { share: '%{y:.0f}\u202f%' })}<extra></extra>`,
      },
    ],
    layout: {
      ...layout,
      margin: { ...layout.margin, r: 52 },
      yaxis2: {
        ...axis(colours),
        overlaying: 'y',
        side: 'right',
        range: [0, 105],
        tickvals: [0, 50, 100],
        ticktext: ['0\u202f%', '50\u202f%', '100\u202f%'],
        showgrid: false,
      },
    },
    legend: [...legend(['approved', 'rejected', 'cannot tell'], colours), { name: t('yield so far'), line: true }],
  }
}

/** The yield after each day: approved / (approved + rejected) of all items decided until then. */
export function yieldSoFar(approved, rejected) {
  let [kept, all] = [0, 0]
  return approved.map((n, i) => {
    kept += n
    all += n + rejected[i]
    return kept / all
  })
}

// Every segment and every row has its number, so no axis is needed. `told`: the text under the pointer, of a kind.
function stackedRows(rows, kinds, colours, textOf, roomForNotes) {
  const occurring = kinds.filter((kind) => rows.some((row) => row.counts[kind]))
  const longest = Math.max(...rows.map((row) => sum(row.counts)), 1)
  const keys = rows.map((row) => row.key)
  const labels = rows.map((row) => plain(row.label))
  return {
    traces: occurring.map((kind) => ({
      type: 'bar',
      orientation: 'h',
      name: word(kind),
      y: keys,
      customdata: labels,
      x: rows.map((row) => row.counts[kind] ?? 0),
      text: rows.map((row) => (row.counts[kind] ? number(row.counts[kind]) : '')),
      textposition: 'inside',
      insidetextanchor: 'middle',
      textangle: 0,
      marker: paint(kind, colours),
      hovertemplate: `%{customdata}<br>${textOf(word(kind))}<extra></extra>`,
    })),
    layout: {
      ...frame(colours),
      margin: { l: 10, r: roomForNotes, t: 6, b: 4 },
      xaxis: { ...axis(colours), range: [0, longest], showgrid: false, showticklabels: false },
      yaxis: {
        ...axis(colours),
        type: 'category',
        tickvals: keys,
        ticktext: labels,
        automargin: true,
        autorange: 'reversed',
        showgrid: false,
        tickfont: { color: colours.ink },
        ticksuffix: '  ',
      },
      annotations: rows.map((row) => ({
        x: sum(row.counts),
        y: row.key,
        text: row.note,
        xanchor: 'left',
        xshift: 5,
        showarrow: false,
        font: { color: colours.muted, size: 12 },
      })),
    },
    legend: legend(occurring, colours),
    least: rows.length * ROW + 10,
  }
}

function dayBars(days, counts, kind, colours) {
  return {
    type: 'bar',
    name: word(kind),
    x: days.map(noon),
    y: counts,
    width: 0.74 * DAY,
    marker: paint(kind, colours),
    hovertemplate: `%{x|${t('%-d %b %Y')}}<br>${word(kind)}: %{y}<extra></extra>`,
  }
}

function dayLayout(days, colours, unit) {
  const last = Date.parse(noon(days.at(-1)))
  const first = Math.min(Date.parse(noon(days[0])), last - (FEWEST_DAYS - 1) * DAY)
  return {
    ...frame(colours),
    margin: { l: 46, r: 14, t: 8, b: 30 },
    xaxis: {
      ...axis(colours),
      type: 'date',
      range: [first - 0.6 * DAY, last + 0.6 * DAY],
      showgrid: false,
      // The day and the month as the language writes them, for d3.
      tickformat: t('%-d %b'),
      hoverformat: t('%-d %b %Y'),
      nticks: 8,
    },
    yaxis: {
      ...axis(colours),
      rangemode: 'tozero',
      title: { text: unit, font: { color: colours.muted, size: 12 } },
      nticks: 5,
      tickformat: ',d',
    },
  }
}

const frame = (colours) => ({
  barmode: 'stack',
  bargap: 0.26,
  showlegend: false,
  paper_bgcolor: 'rgba(0,0,0,0)',
  plot_bgcolor: 'rgba(0,0,0,0)',
  separators: '.\u202f',
  font: { family: colours.font, size: 12.5, color: colours.ink },
  uniformtext: { minsize: 11, mode: 'hide' },
  hoverlabel: { bgcolor: colours.ink, font: { color: colours.card, family: colours.font }, bordercolor: colours.ink },
})

const axis = (colours) => ({
  fixedrange: true,
  gridcolor: colours.line,
  zeroline: false,
  linecolor: colours.line,
  tickfont: { color: colours.muted },
})

/** The fill of a bar. Some kinds are hatched, to be distinct without colour vision too. */
function paint(kind, colours) {
  const hatched = ['rejected', 'adjudication', 'cannot tell'].includes(kind)
  return {
    color: colours[kind],
    line: { width: 1, color: colours.card },
    ...(hatched && {
      pattern: {
        shape: '/',
        size: 6,
        solidity: 0.2,
        fgopacity: 0.4,
        fgcolor: colours.card,
        fillmode: 'overlay',
        bgcolor: colours[kind],
      },
    }),
  }
}

/**
 * A name escaped for plotly, which interprets tags and entities, and cut, because plotly gives a name all the space it
 * needs.
 */
const plain = (name) =>
  (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

const legend = (kinds, colours) => kinds.map((name) => ({ name: word(name), colour: colours[name] }))
const items = (count) => tn('{n} item', '{n} items', count, { n: number(count) })
const decisions = (count) => tn('{n} decision', '{n} decisions', count, { n: number(count) })
const written = (count) => tn('{n} version', '{n} versions', count, { n: number(count) })
const noon = (day) => `${day}T12:00:00`
const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)
