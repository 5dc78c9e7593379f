// A zoom: its line, and on its open card the window and label (fields in the revision round) and hints measured from
// the data.

import { fill, fillAround, h, part } from '../common/dom.js'
import { mediumText, parseNumber } from '../common/format.js'
import { isComposing } from '../common/keys.js'
import { t, tn, word } from '../common/language.js'
import { spansOf, staleIn, textOf } from './statements.js'
import { isForeign, isMeasurement, measurementLine, stepText, windowOf } from './steps.js'
import { trialChips } from './trial.js'

/** A wavelength in Å with at most two decimals. */
const angstrom = (x) => String(Math.round(x * 100) / 100)
const edges = (/** @type {number[]} */ range) => range.map(angstrom).join(' – ')

/** Visits of the fields of windows: both edges typed, one after the other, are one visit. */
let visits = 0

/** A field's text as the step has it: while `value` differs from `defaultValue`, something is being typed. */
const shown = (/** @type {string} */ text) => ({ value: text, defaultValue: text })

/** A zoom in one line: its label and its window. @param {any} step */
export function windowLine(step) {
  if (isMeasurement(step)) return measurementLine(step)
  const window = windowOf(step)
  const range = window ? edges(window) : (step.pending ?? t('no window'))
  return [step.arguments?.label, range].filter(Boolean).join(' · ')
}

/**
 * Draw a zoom into its open card; a field that has the focus stays as it is, with what is typed in it.
 * @param {HTMLElement} card @param {any} step @param {{state: any, on: any}} trace of the card
 */
export function drawZoom(card, step, trace) {
  const { state, on } = trace
  const body = card.querySelector('.body')
  if (!body) return
  if (isMeasurement(step)) {
    // The tool answers in words, with the number that a hint would show; with a picture if it is about the sky.
    const answer = step.pending ? h('p.pending', step.pending) : h('p.measured', step.observation)
    const url = step.picture && state.pictureURL?.(step)
    const image = url && h('img', { src: url, alt: t('What the agent saw') })
    const button = image && h('button.picture', { onClick: () => on.onPicture(url) }, image)
    const foreign =
      isForeign(step) && h('p.was', t('a tool of another agent: kept as it came, it cannot be drawn again'))
    return void fill(body, button, answer, foreign, h('div.hints'), body.querySelector('.step-tools'))
  }
  const window = windowOf(step)
  const failed = !step.picture && (step.pending ?? (step.observation || t('no picture')))
  const frame = step.frame && [
    step.frame === 'rest'
      ? t('rest frame: observed = rest × (1 + {z})', { z: step.z })
      : t('as observed; the tool was given no redshift'),
    `${word(step.frame)}, ${mediumText({ medium: step.medium, meta: state.meta })}`,
    state.meta?.medium_assumed && t('the file does not say whether air or vacuum'),
  ]
  const original = state.originals.get(step.id)
  const typing = state.editable && body.querySelector('input') !== null
  const fresh = h(
    'div.body',
    h(
      'div.window',
      { title: frame ? frame.filter(Boolean).join('; ') : '', onDblclick: () => openFields(card, step, trace) },
      typing ? windowFields(card, step, trace) : h('span.edges', window && edges(window)),
      window && h('span.unit', 'Å'),
      step.frame === 'rest' && h('span.chip', t('rest frame')),
    ),
    typing && labelField(card, step, trace),
    failed && h(step.pending ? 'p.pending' : 'p.refused', failed),
    original && stepText(original) !== stepText(step) && h('p.was', h('del', stepText(original))),
    h('div.hints', hintList(step, state)),
    trialChips(step, state, on.onPicture),
    body.querySelector('.step-tools'),
  )
  const focused = document.activeElement
  const field = focused instanceof HTMLInputElement && body.contains(focused) ? focused : null
  const twin = field && /** @type {HTMLInputElement | null} */ (fresh.querySelector(`[name=${field.name}]`))
  if (!twin) return void fill(body, ...fresh.childNodes)
  fillAround(body, fresh, field, twin)
  if (field.value === field.defaultValue) field.value = twin.value
  field.defaultValue = twin.defaultValue
}

/** Show window and label of an open card as fields, with the cursor in the first. */
export function openFields(card, step, trace) {
  const body = card.querySelector('.body')
  if (!body || !trace.state.editable || isMeasurement(step)) return
  if (!body.querySelector('input')) {
    fill(part(card, '.window'), windowFields(card, step, trace), h('span.unit', 'Å'))
    part(card, '.window').after(labelField(card, step, trace))
  }
  body.querySelector('input')?.select()
}

function windowFields(card, step, trace) {
  const window = windowOf(step)
  const field = (name, at) =>
    h('input', {
      ...{ name, ...shown(window ? angstrom(window[at]) : ''), inputMode: 'decimal', autocomplete: 'off' },
      'aria-label': at ? t('Upper edge of the window, Å') : t('Lower edge of the window, Å'),
      title: t('type an edge, or drag it on the spectrum'),
      onFocus: ({ target, relatedTarget }) => {
        if (!relatedTarget || !target.parentElement.contains(relatedTarget)) visits += 1
      },
      onChange: () => windowTyped(card, step.id, trace),
      onKeydown: (event) => leaveOnKey(event, card),
    })
  return [field('lo', 0), ' – ', field('hi', 1)]
}

/**
 * What is to be checked of a zoom: the texts that quote another window, and its hints, which may still be measured;
 * those that need no check are folded.
 * @param {any} step @param {import('./shown.js').TraceState} state
 */
export function hintList(step, { steps, spans, hints: measured }) {
  if (step.pending || isMeasurement(step)) return []
  const quoted = steps.flatMap((other, at) => {
    const stale = staleIn(spansOf(spans, other)).filter(({ about }) => about === step.id)
    const texts = stale.map(({ start, end }) => textOf(other).slice(start, end))
    return texts.map((text) => h('li.look.disagrees', t('Step {number} says {text}', { number: at + 1, text })))
  })
  const hints = measured[step.id]
  const items = (/** @type {Hint[]} */ some) =>
    some.map((hint) => h(`li.${hint.level}`, { title: hint.why }, hint.text))
  const folded = (hints ?? []).filter(({ level }) => level !== 'look')
  const agree = folded.filter(({ level }) => level === 'ok').length
  const title = agree ? tn('{n} agrees with the data', '{n} agree with the data', agree) : t('measured here')
  return [
    folded.length > 0 && h('details.agree', h(`summary${agree ? '.ok' : ''}`, title), h('ul', items(folded))),
    h('ul', quoted, hints ? items(hints.filter(({ level }) => level === 'look')) : h('li.waiting', t('measuring …'))),
  ]
}

/** Show these edges (Å) on a card. */
export function showEdges(card, lo, hi) {
  const text = card.querySelector('.edges')
  if (text) {
    text.textContent = edges([lo, hi])
    return
  }
  for (const [name, value] of Object.entries({ lo, hi })) {
    const field = card.querySelector(`[name=${name}]`)
    Object.assign(field, shown(angstrom(value)))
    field.removeAttribute('aria-invalid')
  }
}

function labelField(card, step, { on }) {
  return h('input.label', {
    ...{ name: 'label', ...shown(step.arguments?.label ?? ''), autocomplete: 'off' },
    ...{ placeholder: t('label'), 'aria-label': t('Label of the window') },
    onChange: (event) => on.onLabel(step.id, event.target.value),
    onKeydown: (event) => leaveOnKey(event, card),
  })
}

function windowTyped(card, id, { state, on }) {
  const fields = ['lo', 'hi'].map((name) => card.querySelector(`[name=${name}]`))
  const [lo, hi] = fields.map((field) => parseNumber(field.value.replace(',', '.')))
  const reversed = lo >= hi
  for (const field of fields) field.setAttribute('aria-invalid', String(reversed))
  // The edges are typed one after the other, so they may be in the wrong order meanwhile.
  const values = { lo: angstrom(lo), hi: angstrom(hi) }
  if (reversed) return on.onMistyped(t('The lower edge must be below the upper one: found {lo} – {hi} Å.', values))
  if (Number.isFinite(lo) && Number.isFinite(hi)) return on.onWindow(id, lo, hi, `window ${id} ${visits}`)
  on.onMistyped(t('A window edge is a wavelength in Å, e.g. 6562.8.'))
  const window = windowOf(state.steps.find((s) => s.id === id))
  if (window) showEdges(card, ...window)
}

/**
 * Enter and Escape move the focus from a field to its card; the field's change event accepts what was typed.
 * @param {any} event @param {HTMLElement} card @param {boolean} onEnter whether Enter does
 */
export function leaveOnKey(event, card, onEnter = true) {
  if (isComposing(event) || (event.key !== 'Escape' && !(event.key === 'Enter' && onEnter))) return
  event.preventDefault()
  event.stopPropagation()
  event.target.blur()
  card.focus({ preventScroll: true })
}
