// The body of a zoom's card: the picture that the agent saw, its window and label (editable in the revision round), and
// hints measured from the data.

import { fill, fillAround, h, part } from '../common/dom.js'
import { mediumText, parseNumber } from '../common/format.js'
import { isComposing } from '../common/keys.js'
import { t, TRACE, word } from '../common/language.js'
import { spansOf, staleIn, textOf } from './statements.js'
import { stepText, windowOf } from './steps.js'
import { trialChips } from './trial.js'

/** A wavelength in Å with at most two decimals. */
const angstrom = (x) => String(Math.round(x * 100) / 100)

/** Visits of the fields of windows: both edges typed, one after the other, are one visit. */
let visits = 0

/** A field's text as the step has it: while `value` differs from `defaultValue`, something is being typed. */
const shown = (/** @type {string} */ text) => ({ value: text, defaultValue: text })

/**
 * Draw a zoom into its card; a field that has the focus stays as it is, with what is typed in it.
 * @param {HTMLElement} card @param {any} step
 * @param {{state: any, on: any}} trace of the card: its state and callbacks
 */
export function drawZoom(card, step, trace) {
  const { state, on } = trace
  const body = part(card, '.body')
  const window = windowOf(step)
  const field = (name, at) =>
    h('input', {
      name,
      ...shown(window ? angstrom(window[at]) : ''),
      inputMode: 'decimal',
      autocomplete: 'off',
      'aria-label': at ? t('Upper edge of the window, Å') : t('Lower edge of the window, Å'),
      title: t('type an edge, or drag it on the spectrum'),
      onFocus: (event) => {
        if (!(event.relatedTarget instanceof Node) || !event.target.parentElement.contains(event.relatedTarget))
          visits += 1
      },
      onChange: () => windowTyped(card, step.id, trace),
      onKeydown: (event) => leaveOnKey(event, card),
    })
  const edges = state.editable
    ? [field('lo', 0), ' – ', field('hi', 1)]
    : [
        h(
          'span.edges',
          {},
          window ? window.map(angstrom).join(' – ') : step.pending ? t('calling the tool …') : t('no window'),
        ),
      ]
  const picture = step.picture
    ? h('img', {
        src: state.pictureURL(step),
        alt: t('What the agent saw: {observation}', { observation: step.observation }),
        title: t('what the agent saw; click for full size'),
        onClick: (e) => on.onPicture(e.target.src),
      })
    : h(step.pending ? 'p.pending' : 'p.refused', {}, step.pending ?? (step.observation || t('no picture')))
  const fresh = h(
    'div.body',
    {},
    h(
      'div.zoom-row',
      {},
      h('figure.picture', {}, picture),
      h(
        'div.facts',
        {},
        h(
          'div.window',
          {},
          edges,
          (window || state.editable) && h('span.unit', {}, 'Å'),
          step.frame &&
            h(
              'span.chip',
              {
                title: [
                  step.frame === 'rest'
                    ? t('rest frame: observed = rest × (1 + {z})', { z: step.z })
                    : t('as observed; the tool was given no redshift'),
                  state.meta?.medium_assumed && t('the file does not say whether air or vacuum'),
                ]
                  .filter(Boolean)
                  .join('; '),
              },
              `${word(step.frame)} · ${mediumText({ medium: step.medium, meta: state.meta })}`,
            ),
        ),
        labelOf(card, step, trace),
        before(step, state.originals.get(step.id)),
        h('ul.hints', {}, hintList(step, state)),
      ),
    ),
    trialChips(step, state, on.onPicture),
  )
  const focused = document.activeElement
  const typing = focused instanceof HTMLInputElement && body.contains(focused) ? focused : null
  const twin = typing && /** @type {HTMLInputElement | null} */ (fresh.querySelector(`[name=${typing.name}]`))
  if (!twin) return fill(body, ...fresh.childNodes)
  fillAround(body, fresh, typing, twin)
  if (typing.value === typing.defaultValue) typing.value = twin.value
  typing.defaultValue = twin.defaultValue
}

/**
 * The texts that quote another window than this zoom's, and its hints, as list items; hints may still be measured.
 * @param {any} step @param {import('./shown.js').TraceState} state
 */
export function hintList(step, { steps, spans, hints: measured }) {
  if (step.pending) return []
  const quoted = steps.flatMap((other, at) =>
    staleIn(spansOf(spans, other))
      .filter((span) => span.about === step.id)
      .map((span) =>
        h(
          'li.look.disagrees',
          {},
          t('Step {number} says {text}', { number: at + 1, text: textOf(other).slice(span.start, span.end) }),
        ),
      ),
  )
  const hints = measured[step.id]
  if (hints === undefined) return [...quoted, h('li.waiting', {}, t('measuring …'))]
  return [...quoted, ...hints.map((hint) => h(`li.${hint.level}`, { title: hint.why }, hint.text))]
}

/** Show these edges (Å) in the fields of a card. */
export function showEdges(card, lo, hi) {
  for (const [name, value] of [
    ['lo', lo],
    ['hi', hi],
  ]) {
    const field = card.querySelector(`[name=${name}]`)
    Object.assign(field, shown(angstrom(value)))
    field.removeAttribute('aria-invalid')
  }
}

function labelOf(card, step, { state, on }) {
  const label = step.arguments?.label ?? ''
  if (!state.editable) return label ? h('p.label', { lang: TRACE }, `“${label}”`) : null
  return h('input.label', {
    name: 'label',
    ...shown(label),
    placeholder: t('label'),
    'aria-label': t('Label of the window'),
    autocomplete: 'off',
    onChange: (event) => on.onLabel(step.id, event.target.value),
    onKeydown: (event) => leaveOnKey(event, card),
  })
}

/** The window and label of the first version, if they were different. */
function before(step, original) {
  if (!original || stepText(original) === stepText(step)) return null
  return h('p.was', {}, h('del', {}, stepText(original)))
}

function windowTyped(card, id, { state, on }) {
  const fields = ['lo', 'hi'].map((name) => card.querySelector(`[name=${name}]`))
  const [lo, hi] = fields.map((field) => parseNumber(field.value.replace(',', '.')))
  const reversed = lo >= hi
  for (const field of fields) field.setAttribute('aria-invalid', String(reversed))
  // The edges are typed one after the other, so they may be in the wrong order meanwhile.
  if (reversed)
    return on.onMistyped(
      t('The lower edge must be below the upper one: found {lo} – {hi} Å.', { lo: angstrom(lo), hi: angstrom(hi) }),
    )
  if (Number.isFinite(lo) && Number.isFinite(hi)) return on.onWindow(id, lo, hi, `window ${id} ${visits}`)
  on.onMistyped(t('A window edge is a wavelength in Å, e.g. 6562.8.'))
  const window = windowOf(state.steps.find((s) => s.id === id))
  if (window) showEdges(card, ...window)
}

/** Enter and Escape move the focus from a field to its card; the field's change event accepts what was typed. */
function leaveOnKey(event, card) {
  if ((event.key !== 'Escape' && event.key !== 'Enter') || isComposing(event)) return
  event.preventDefault()
  event.stopPropagation()
  event.target.blur()
  card.focus({ preventScroll: true })
}
