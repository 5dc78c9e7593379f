// The parts of a text that the server has tied to pixels: drawn in the text, listed under a field, written anew.

import { h } from '../common/dom.js'

/**
 * What the server found in the text of a step; it holds for exactly this text.
 * @typedef {{text: string, list: Span[]}} SpansOfText
 */

/** @param {any} step */
export const textOf = (step) => (step.kind === 'think' ? step.text : step.kind === 'answer' ? step.explanation : '')

/**
 * The spans of a step's present text; none while a changed text has not been compared.
 * @param {Record<string, SpansOfText> | undefined} spans by step @param {Step} step @returns {Span[]}
 */
export function spansOf(spans, step) {
  const known = spans?.[step.id]
  return known && known.text === textOf(step) ? known.list : []
}

/** @param {Span[]} spans */
export const staleIn = (spans) => spans.filter((span) => span.status === 'stale')

/**
 * Runs of a text, as `diffWords` gives them, with the spans marked; offsets count the present text, without what was
 * removed.
 * @param {{op: string, text: string}[]} runs @param {Span[]} spans @param {boolean} reachable by keyboard
 * @param {number} from where in the present text the runs begin
 */
export function marked(runs, spans, reachable, from = 0) {
  const nodes = []
  for (const { op, text } of runs) {
    if (op === '-') {
      nodes.push(h('del', text))
      continue
    }
    const to = from + text.length
    const pieces = []
    let at = from
    spans.forEach((span, number) => {
      const [start, end] = [Math.max(span.start, from), Math.min(span.end, to)]
      if (start >= end) return
      const words = text.slice(start - from, end - from)
      pieces.push(text.slice(at - from, start - from), tied(span, number, words, reachable))
      at = end
    })
    pieces.push(text.slice(at - from))
    nodes.push(op === '+' ? h('ins', pieces) : pieces)
    from = to
  }
  return nodes
}

const LONG = 380 // characters of a text that is shown whole
const BEGINNING = [60, 170] // of a longer one: where its first part may end

/**
 * The runs of a text in two: its first sentences, and what is folded; no second part where it is short.
 * @param {{op: string, text: string}[]} runs @returns {{first: typeof runs, rest: typeof runs, at: number}} `at`: where
 *   in the present text the second part begins
 */
export function folded(runs) {
  const text = runs.map((run) => (run.op === '-' ? '' : run.text)).join('')
  const [least, most] = BEGINNING
  const part = text.slice(0, most)
  const ends = [...part.matchAll(/[.!?。！？]\s+|\n+/g)].map((match) => match.index + match[0].length)
  const at = text.length <= LONG ? text.length : (ends.findLast((end) => end > least) ?? part.lastIndexOf(' ') + 1)
  const first = []
  const rest = []
  let from = 0
  for (const run of runs) {
    const inFirst = Math.max(0, Math.min(run.text.length, at - from))
    if (run.op === '-') (from < at ? first : rest).push(run)
    else {
      if (inFirst > 0) first.push({ ...run, text: run.text.slice(0, inFirst) })
      if (inFirst < run.text.length) rest.push({ ...run, text: run.text.slice(inFirst) })
      from += run.text.length
    }
  }
  return { first, rest, at }
}

function tied({ kind, note, status }, number, text, reachable) {
  const names = { title: note, 'aria-label': note ? `${text}: ${note}` : text }
  const props = { 'data-span': String(number), role: 'button', tabIndex: reachable ? 0 : -1, ...names }
  return h(`span.tied.tied-${kind}.${status}`, props, text)
}

/**
 * The spans of a text being edited, as a list: those that disagree first, then the numbers and windows.
 * @param {string} text @param {Span[]} spans
 */
export function spanList(text, spans) {
  const rank = (/** @type {Span} */ span) => (span.status === 'stale' ? 0 : span.kind === 'line' ? 2 : 1)
  const seen = new Set()
  return spans
    .map((span, number) => ({ span, number, words: text.slice(span.start, span.end) }))
    .filter(({ span, words }) => span.status === 'stale' || (!seen.has(words) && seen.add(words)))
    .sort((a, b) => rank(a.span) - rank(b.span))
    .map(({ span, number, words }) =>
      h('li', tied(span, number, words, true), span.status === 'stale' && h('span.why', ` ${span.note}`)),
    )
}

/** A text with every span that the server can write anew. @param {string} text @param {Span[]} spans */
export function rewritten(text, spans) {
  let written = ''
  let at = 0
  for (const { start, end, status, new: now } of spans) {
    if (status !== 'stale' || now === null) continue
    written += text.slice(at, start) + now
    at = end
  }
  return written + text.slice(at)
}

/**
 * The steps whose texts belong to a step: of a zoom the thoughts around it, up to the next tool call.
 * @param {Step[]} steps @param {string} id
 */
export function textsAround(steps, id) {
  const at = steps.findIndex((step) => step.id === id)
  if (at < 0 || steps[at].kind !== 'zoom') return at < 0 ? [] : [steps[at]]
  const texts = []
  for (let before = at - 1; steps[before]?.kind === 'think'; before -= 1) texts.unshift(steps[before])
  for (let after = at + 1; steps[after]?.kind === 'think'; after += 1) texts.push(steps[after])
  return texts
}
