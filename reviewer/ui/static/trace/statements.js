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
 */
export function marked(runs, spans, reachable) {
  const nodes = []
  let from = 0
  for (const { op, text } of runs) {
    if (op === '-') {
      nodes.push(h('del', {}, text))
      continue
    }
    const to = from + text.length
    const pieces = []
    let at = from
    spans.forEach((span, number) => {
      const [start, end] = [Math.max(span.start, from), Math.min(span.end, to)]
      if (start >= end) return
      pieces.push(text.slice(at - from, start - from))
      pieces.push(tied(span, number, text.slice(start - from, end - from), reachable))
      at = end
    })
    pieces.push(text.slice(at - from))
    nodes.push(op === '+' ? h('ins', {}, pieces) : pieces)
    from = to
  }
  return nodes
}

function tied(span, number, text, reachable) {
  return h(
    `span.tied.tied-${span.kind}.${span.status}`,
    {
      'data-span': String(number),
      role: 'button',
      tabIndex: reachable ? 0 : -1,
      title: span.note,
      'aria-label': span.note ? `${text}: ${span.note}` : text,
    },
    text,
  )
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
      h('li', {}, tied(span, number, words, true), span.status === 'stale' && h('span.why', {}, ` ${span.note}`)),
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
