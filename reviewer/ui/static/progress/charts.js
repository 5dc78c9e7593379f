// The charts of the Progress tab as plain plotly figures: pure functions of the numbers and the colours.
// Each returns {traces, layout, legend}, or {none}: the text to show if there is nothing to draw.

import { t, tn, withCommas, word } from '../common/language.js'
import { number } from '../common/format.js'

const ROUNDS = ['screening', 'revision', 'audit', 'vote', 'adjudication']
export const OUTCOMES = ['approved', 'rejected', 'cannot tell']
export const STATES = [...ROUNDS.toSpliced(2, 0, 'returned'), ...OUTCOMES]
const HATCHED = ['rejected', 'adjudication', 'cannot tell'] // to be distinct without colour vision too
const DAY = 86_400_000
// With fewer days one bar would be as wide as the page.
const FEWEST_DAYS = 14
const ROW = 28
const HEIGHT = 210
const LONGEST_NAME = 48

/** Items by task, stacked by state. */
export function byTask({ by_task: tasks, tasks: titles }, colours) {
  const rows = Object.entries(tasks).map(([key, counts]) => {
    const n = sum(counts)
    return { key, label: titles[key] ?? key, counts, note: tn('{n} item', '{n} items', n, { n: number(n) }) }
  })
  rows.sort((a, b) => a.label.localeCompare(b.label))
  return stackedRows(rows, STATES, colours, 70)
}

/** Decisions by person, stacked by round, with the number of versions they wrote. */
export function byPerson({ by_person: people, versions_by: versions }, colours) {
  const rows = [...new Set([...Object.keys(people), ...Object.keys(versions)])].map((person) => {
    const [counts, written] = [people[person] ?? {}, versions[person] ?? 0]
    const n = sum(counts)
    const note = [
      tn('{n} decision', '{n} decisions', n, { n: number(n) }),
      written && tn('{n} version', '{n} versions', written, { n: number(written) }),
    ]
    return { key: person, label: person, counts, note: withCommas(note.filter(Boolean)) }
  })
  if (!rows.length) return { none: t('No decisions yet. They appear here after the first decision in the Review tab.') }
  return stackedRows(rows, ROUNDS, colours, 175)
}

/** Decisions per UTC day, stacked by round. */
export const perDay = ({ per_day: days }, colours) =>
  Object.keys(days).length ? dayBars(days, ROUNDS, t('Decisions'), colours) : { none: t('No decisions yet.') }

/** Decided items per UTC day by outcome, and the yield so far as a line. */
export function decidedPerDay({ decided_per_day: decided }, colours) {
  const days = Object.keys(decided).sort()
  if (!days.length) return { none: t('No item is approved or rejected yet. The yield is undefined until one is.') }
  const { traces, layout, legend } = dayBars(decided, OUTCOMES, t('Items'), colours)
  const of = (verdict) => days.map((day) => decided[day][verdict])
  const line = {
    ...{ type: 'scatter', mode: 'lines+markers', name: t('yield so far'), yaxis: 'y2', x: days.map(noon) },
    y: yieldSoFar(of('approved'), of('rejected')).map((y) => 100 * y),
    line: { color: colours.ink, width: 1.5 },
    marker: { size: 5, color: colours.ink },
    hovertemplate: `${t('{share} yield so far', { share: '%{y:.0f}\u202f%' })}<extra></extra>`,
  }
  const ticks = { tickvals: [0, 50, 100], ticktext: ['0\u202f%', '50\u202f%', '100\u202f%'] }
  const yaxis2 = { ...axis(colours), ...ticks, overlaying: 'y', side: 'right', range: [0, 105], showgrid: false }
  return {
    traces: [...traces, line],
    layout: { ...layout, margin: { ...layout.margin, r: 52 }, yaxis2 },
    legend: [...legend, { name: t('yield so far'), line: true }],
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

/** Bars of several kinds on top of each other: those kinds that occur, and their legend. */
function stacked(kinds, countsOf, colours, traceOf) {
  const occurring = kinds.map((kind) => [kind, countsOf(kind)]).filter(([, counts]) => counts.some(Boolean))
  return {
    traces: occurring.map(([kind, counts]) => ({
      type: 'bar',
      name: word(kind),
      marker: paint(kind, colours),
      ...traceOf(counts, word(kind)),
    })),
    legend: occurring.map(([kind]) => ({ name: word(kind), colour: colours[kind] })),
  }
}

// Every segment and every row has its number, so no axis is needed.
function stackedRows(rows, kinds, colours, roomForNotes) {
  const keys = rows.map((row) => row.key)
  const labels = rows.map((row) => plain(row.label))
  const traceOf = (x, name) => ({
    ...{ orientation: 'h', x, y: keys, customdata: labels, text: x.map((n) => (n ? number(n) : '')) },
    ...{ textposition: 'inside', insidetextanchor: 'middle', textangle: 0 },
    hovertemplate: `%{customdata}<br>${name}: %{x}<extra></extra>`,
  })
  const longest = Math.max(...rows.map((row) => sum(row.counts)), 1)
  const layout = {
    ...frame(colours),
    height: rows.length * ROW + 10, // a row has the same height, however many there are
    margin: { l: 10, r: roomForNotes, t: 6, b: 4 },
    xaxis: { ...axis(colours), range: [0, longest], showgrid: false, showticklabels: false },
    yaxis: {
      ...axis(colours),
      ...{ type: 'category', tickvals: keys, ticktext: labels, ticksuffix: '  ' },
      ...{ automargin: true, autorange: 'reversed', showgrid: false },
      tickfont: { color: colours.ink },
    },
    annotations: rows.map((row) => ({
      ...{ x: sum(row.counts), y: row.key, text: row.note, xanchor: 'left', xshift: 5, showarrow: false },
      font: { color: colours.muted, size: 12 },
    })),
  }
  return { ...stacked(kinds, (kind) => rows.map((row) => row.counts[kind] ?? 0), colours, traceOf), layout }
}

/** Bars per UTC day. @param {Record<string, Record<string, number>>} table by day and kind */
function dayBars(table, kinds, unit, colours) {
  const days = Object.keys(table).sort()
  const x = days.map(noon)
  const last = Date.parse(x[x.length - 1])
  const first = Math.min(Date.parse(x[0]), last - (FEWEST_DAYS - 1) * DAY)
  const traceOf = (y, name) => ({
    ...{ x, y, width: 0.74 * DAY },
    hovertemplate: `%{x|${t('%-d %b %Y')}}<br>${name}: %{y}<extra></extra>`,
  })
  const layout = {
    ...frame(colours),
    margin: { l: 46, r: 14, t: 8, b: 30 },
    xaxis: {
      ...axis(colours),
      ...{ type: 'date', range: [first - 0.6 * DAY, last + 0.6 * DAY], showgrid: false, nticks: 8 },
      // The day and the month as the language writes them, for d3.
      ...{ tickformat: t('%-d %b'), hoverformat: t('%-d %b %Y') },
    },
    yaxis: {
      ...axis(colours),
      ...{ rangemode: 'tozero', nticks: 5, tickformat: ',d' },
      title: { text: unit, font: { color: colours.muted, size: 12 } },
    },
  }
  const countsOf = (kind) => days.map((day) => table[day][kind.replace(' ', '_')] ?? 0)
  return { ...stacked(kinds, countsOf, colours, traceOf), layout }
}

export const frame = (colours) => ({
  ...{ barmode: 'stack', bargap: 0.26, showlegend: false, height: HEIGHT, separators: '.\u202f' },
  ...{ paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)' },
  font: { family: colours.font, size: 12, color: colours.ink },
  uniformtext: { minsize: 11, mode: 'hide' },
  hoverlabel: { bgcolor: colours.ink, font: { color: colours.card, family: colours.font }, bordercolor: colours.ink },
})

export const axis = (colours) => ({
  ...{ fixedrange: true, zeroline: false, gridcolor: colours.line, linecolor: colours.line },
  tickfont: { color: colours.muted },
})

/** The fill of a bar. */
const paint = (kind, colours) => ({
  color: colours[kind],
  line: { width: 1, color: colours.card },
  ...(HATCHED.includes(kind) && {
    pattern: {
      ...{ shape: '/', size: 6, solidity: 0.2, fillmode: 'overlay', fgopacity: 0.4 },
      ...{ fgcolor: colours.card, bgcolor: colours[kind] },
    },
  }),
})

/** A name escaped for plotly, which interprets tags and entities, and cut: plotly gives it all the space it needs. */
const plain = (name) =>
  (name.length > LONGEST_NAME ? `${name.slice(0, LONGEST_NAME)}…` : name)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')

const noon = (day) => `${day}T12:00:00`
export const sum = (counts) => Object.values(counts).reduce((total, n) => total + n, 0)
