// Editing and comparing the steps of a trace, as pure functions. Each returns a new list and changes nothing in place.

import { t, word } from '../common/language.js'

export const sameSteps = (a, b) => JSON.stringify(a) === JSON.stringify(b)

/** An id no step has had: ids are never used again within an item's versions, so marks and diffs stay true. */
export function newStepId(steps, taken = []) {
  const numbers = [...steps.map((s) => s.id), ...taken].map((id) => Number(/^s(\d+)$/.exec(id)?.[1] ?? 0))
  return `s${Math.max(0, ...numbers) + 1}`
}

export const replaceStep = (steps, id, change) => steps.map((s) => (s.id === id ? { ...s, ...change } : s))

export const removeStep = (steps, id) => steps.filter((s) => s.id !== id || s.kind === 'answer')

/** Move a step by one place; the answer stays last. */
export function moveStep(steps, id, by) {
  const from = steps.findIndex((s) => s.id === id)
  const to = from + by
  if (from < 0 || to < 0 || to >= steps.length) return steps
  if (steps[from].kind === 'answer' || steps[to].kind === 'answer') return steps
  const moved = [...steps]
  moved.splice(to, 0, ...moved.splice(from, 1))
  return moved
}

/** Put a step after another one, but never after the answer. */
export function insertAfter(steps, id, step) {
  const at = steps.findIndex((s) => s.id === id)
  const last = steps.findIndex((s) => s.kind === 'answer')
  let to = at < 0 ? steps.length : at + 1
  if (last >= 0) to = Math.min(to, last)
  return [...steps.slice(0, to), step, ...steps.slice(to)]
}

/** Whether a tool call shows no window of ours: numbers of the spectrum or of catalogues, or a tool of another agent.
 * @param {Step} step */
export const isMeasurement = (step) => Boolean(step.tool) && step.tool !== 'spectral_visualization_tool'

/** Whether it is a tool of another agent: its answer is shown as it came. @param {Step} step */
export const isForeign = (step) => isMeasurement(step) && step.tool !== 'measure' && step.tool !== 'sky_context'

/** What a measurement was asked for, in one line. @param {Step} step */
export function measurementLine(step) {
  if (step.tool === 'sky_context') return [t('catalogues'), step.arguments?.label].filter(Boolean).join(' · ')
  if (isForeign(step)) return `${step.tool} · ${JSON.stringify(step.arguments ?? {}).slice(0, 200)}`
  const { feature, element, wavelength, label } = step.arguments ?? {}
  const named = [feature ?? label, element, wavelength].filter(Boolean).join(' ')
  return `${t('measured')} · ${named}`
}

/** The window that a zoom requested, in its own frame; null if it is not two finite numbers. */
export function windowOf(step) {
  if (isMeasurement(step)) return null
  const range = step.arguments?.wavelength_range
  if (!Array.isArray(range) || range.length !== 2 || !range.every(Number.isFinite)) return null
  return [range[0], range[1]]
}

/**
 * The zoom whose window is shown with a step: its own, that of the nearest zoom before it, or the first one.
 * @param {Step[]} steps @param {string} id
 */
export function nearestZoom(steps, id) {
  const zooms = steps.filter((step) => step.kind === 'zoom' && windowOf(step))
  const at = steps.findIndex((step) => step.id === id)
  return zooms.findLast((zoom) => steps.indexOf(zoom) <= at) ?? zooms[0]
}

/**
 * What the agent saw at a step: the picture of the zoom before it that is nearest, or of the whole spectrum.
 * @param {Step[]} steps @param {string | null | undefined} id none: the last step
 * @param {(step: Step) => string | null} pictureURL @param {string | null | undefined} overviewURL
 */
export function pictureAt(steps, id, pictureURL, overviewURL) {
  const chosen = steps.findIndex((step) => step.id === id)
  const at = steps.slice(0, chosen < 0 ? undefined : chosen + 1).findLastIndex(({ picture }) => picture)
  const url = at < 0 ? overviewURL : pictureURL(steps[at])
  const title = at < 0 ? t('What the agent saw first') : t('What the agent saw in step {number}', { number: at + 1 })
  return url ? { url, title } : null
}

/** The windows of a trace as the spectrum draws them: numbered as their steps are, each in its own frame. */
export const windowsOf = (steps) =>
  steps.flatMap((step, index) => {
    const window = step.kind === 'zoom' && windowOf(step)
    if (!window) return []
    const { id, frame, z } = step
    return [{ id, number: index + 1, lo: window[0], hi: window[1], frame, z, label: step.arguments.label ?? '' }]
  })

/**
 * The windows of one of two traces that are shown, named by its side: L3, R4.
 * @param {StepWindow[]} windows @param {string} side
 */
export const windowsOfSide = (windows, side) => {
  const letter = side === 'left' ? 'L' : 'R'
  return windows.map((window) => ({ ...window, side, noun: `${side} step`, number: `${letter}${window.number}` }))
}

/** The reasons why these steps cannot be submitted. The server checks again. */
export function problems(steps) {
  const listed = []
  if (steps.at(-1)?.kind !== 'answer') listed.push(t('the last step is not an answer'))
  let thought = false
  steps.forEach((step, index) => {
    const number = index + 1
    if (step.kind === 'think') thought ||= step.text.trim() !== ''
    else {
      // A think just before it is empty, or it would count as a thought.
      if (!thought && steps[index - 1]?.kind === 'think')
        listed.push(t('step {number} (Think) is empty', { number: index }))
      else if (!thought) listed.push(t('step {number} has no thought before it', { number }))
      thought = false
    }
    if (step.kind === 'zoom' && !step.ok && !isMeasurement(step))
      listed.push(t('the tool refused the window of step {number}', { number }))
    if (step.kind === 'answer' && !step.verdict) listed.push(t('the answer is neither YES nor NO'))
  })
  return listed
}

const words = (text) => text.match(/\s+|[^\s]+/gu) ?? []

/**
 * Word differences as runs [{op: '=' | '-' | '+', text}], by longest common subsequence.
 * Texts are a few hundred words, so the quadratic table is fine; longer ones are shown as replaced whole.
 */
export function diffWords(before, after) {
  if (before === after) return [{ op: '=', text: after }]
  const a = words(before)
  const b = words(after)
  const runs = []
  const push = (op, text) => (runs.at(-1)?.op === op ? (runs.at(-1).text += text) : runs.push({ op, text }))
  if (a.length * b.length > 4e6) {
    push('-', before)
    push('+', after)
    return runs
  }
  const width = b.length + 1
  const length = new Uint16Array((a.length + 1) * width)
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--) {
      const [at, below] = [i * width + j, (i + 1) * width + j]
      length[at] = a[i] === b[j] ? length[below + 1] + 1 : Math.max(length[below], length[at + 1])
    }
  let [i, j] = [0, 0]
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push('=', b[j])
      i++
      j++
    } else if (i < a.length && (j >= b.length || length[(i + 1) * width + j] >= length[i * width + j + 1]))
      push('-', a[i++])
    else push('+', b[j++])
  }
  return runs
}

/** One line of text that stands for a step in a comparison. */
export function stepText(step) {
  if (!step) return ''
  if (step.kind === 'think') return step.text
  if (step.kind === 'answer') return `${step.verdict ?? t('no verdict')} · ${step.explanation}`
  if (isMeasurement(step)) return measurementLine(step)
  const range = step.arguments?.wavelength_range
  const window = Array.isArray(range) ? range.join(' – ') + ' Å' : t('full spectrum')
  return `${window}${step.arguments?.label ? ` “${step.arguments.label}”` : ''} (${word(step.frame)})`
}

/** A row of the differences; `number` is that of the step's card, `was` that in the earlier text. */
function row({ id, kind }, change, runs, number, was) {
  return { id, kind, change, runs, title: rowTitle(change, { kind: word(kind), number, was }, was !== number) }
}

/** @param {string} change @param {Record<string, string | number>} values @param {boolean} renumbered */
function rowTitle(change, values, renumbered) {
  if (change === 'same') return ''
  if (change === 'added') return t('{kind} {number} added', values)
  if (change === 'removed') return t('{kind} {number} removed', values)
  if (change === 'moved')
    return renumbered ? t('{kind} {number} moved: was {was}, now {number}', values) : t('{kind} {number} moved', values)
  return renumbered ? t('{kind} {number} changed (was {was})', values) : t('{kind} {number} changed', values)
}

/**
 * Differences by step, matched by id, in reading order:
 * [{id, kind, change: 'same' | 'changed' | 'added' | 'removed' | 'moved', runs, title}]
 * `title` names the step as its card does: "zoom 4 added", "zoom 6 changed (was 4)".
 */
export function diffSteps(before, after) {
  const old = new Map(before.map((s, at) => [s.id, { step: s, at }]))
  const kept = after.filter((s) => old.has(s.id)).map((s) => s.id)
  const order = before.map((s) => s.id).filter((id) => kept.includes(id))
  const rows = after.map((step, at) => {
    const { step: was, at: wasAt } = old.get(step.id) ?? {}
    const number = at + 1
    if (!was) return row(step, 'added', [{ op: '+', text: stepText(step) }], number, number)
    const runs = diffWords(stepText(was), stepText(step))
    const changed = runs.some((r) => r.op !== '=')
    const moved = kept.indexOf(step.id) !== order.indexOf(step.id)
    return row(step, changed ? 'changed' : moved ? 'moved' : 'same', runs, number, wasAt + 1)
  })
  const ids = new Set(after.map((s) => s.id))
  before.forEach((step, at) => {
    if (ids.has(step.id)) return
    const gone = row(step, 'removed', [{ op: '-', text: stepText(step) }], at + 1, at + 1)
    const previous = before.slice(0, at).findLast((s) => ids.has(s.id))
    const place = previous ? rows.findIndex((r) => r.id === previous.id) + 1 : 0
    rows.splice(place, 0, gone)
  })
  return rows
}
