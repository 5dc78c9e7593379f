// The person's own inspection of the spectrum: redshift, quality, issues, class and comment, as in DESI's visual
// inspection. A redshift tried in the plot is kept in this browser until it is saved as part of an inspection.

import { lasting } from '../common/browser_storage.js'
import { t, withParts, word } from '../common/language.js'
import { cap, fill, h } from '../common/dom.js'
import { parseNumber, redshift } from '../common/format.js'
import { newKey } from '../common/http.js'
import { isComposing, nameOf } from '../common/keys.js'
import { aboutItem, outbox } from '../status/outbox.js'
import { UnsentAnswer } from './dialogs.js'

export class Inspecting {
  /**
   * @param {{state: import('./state.js').ReviewState, notices: import('../common/notices.js').Notices,
   *   plot: () => import('../spectrum/view.js').SpectrumView, onSaved: () => void}} options `plot`: of the item shown
   */
  constructor({ state, notices, plot, onSaved }) {
    this.state = state
    this.notices = notices
    this.plot = plot
    this.onSaved = onSaved
  }

  /** The form of the drawer; null where no item is shown. */
  draw() {
    const { item, me } = this.state
    if (!item) return null
    const plotted = this.plot().item && this.plot().state.z
    const unsent = new UnsentAnswer(me.initials, item, 'inspection')
    return formOf(item, me.scales, plotted, unsent, (inspection) => this.#save(item, inspection, unsent))
  }

  /** @param {Item} item @param {Omit<Inspection, 'person'>} inspection @param {UnsentAnswer} unsent */
  async #save(item, inspection, unsent) {
    const { me } = this.state
    const key = newKey()
    const inFront = () => this.state.isShown(item.id)
    const parts = [{ path: `/api/v1/item/${item.id}/inspection`, body: { key, ...inspection } }]
    try {
      const [mine] = await outbox.send({ ...aboutItem(item), key, kind: 'inspection', parts }, { inFront })
      this.state.itemChanged(item.id)
      forgetTried(me.initials, item.id)
      unsent.forget()
      if (!inFront()) return this.notices.toast(t('#{item} {name}: sent.', { item: item.id, name: item.row.name }))
      this.notices.toast(t('Inspection saved.'))
      item.inspection = { ...item.inspection, mine: inLine(mine) ? mine : null }
      if (mine.z !== null && this.plot().item) this.plot().command('z', mine.z)
      this.onSaved()
    } catch (error) {
      if (inFront()) this.notices.error(error)
    }
  }
}

/**
 * The form. Keys outside text fields: 0 to 4 the quality, r c s the issues, p the plot's redshift. What is not saved
 * is offered when the form is opened again.
 * @param {Item} item @param {Person['scales']} scales @param {number | null} plotted the redshift of the plot
 * @param {UnsentAnswer} unsent
 * @param {(inspection: Omit<Inspection, 'person'>) => void} save
 */
function formOf({ inspection }, { qualities, issues, spectypes }, plotted, unsent, save) {
  const { mine, others, merged } = inspection
  const saved = mine ? { ...mine, z: mine.z === null ? '' : redshift(mine.z), quality: String(mine.quality ?? '') } : {}
  const start = { z: '', quality: '', issues: '', spectype: '', comment: '', ...saved, ...unsent.read() }
  const note = h('p.note.look', { hidden: true, role: 'alert' })
  const z = h('input.z', {
    type: 'text',
    inputMode: 'decimal',
    autocomplete: 'off',
    'aria-label': t('Redshift found'),
    placeholder: t('none'),
    value: start.z,
  })
  const ofPlot = redshift(plotted ?? 0)
  const onTake = () => {
    z.value = ofPlot
    keep()
  }
  const take = h(
    'button',
    { hidden: plotted === null, onClick: onTake },
    withParts(t('take z = {redshift} of the plot {cap}'), { redshift: ofPlot, cap: cap('p') }),
  )
  const quality = (/** @type {string} */ value) =>
    h('input', { type: 'radio', name: 'quality', value, checked: start.quality === value })
  const rated = Object.entries(qualities).sort(([first], [other]) => Number(other) - Number(first))
  const qualityInputs = rated.map(([value]) => quality(value))
  const issueInputs = Object.keys(issues).map((value) =>
    h('input', { type: 'checkbox', name: 'issue', value, checked: start.issues.includes(value) }),
  )
  const spectype = h('select', { 'aria-label': t('Class') })
  for (const value of ['', ...spectypes])
    spectype.append(h('option', { value, selected: value === start.spectype }, value || t('none')))
  const comment = h('textarea', { rows: 2, 'aria-label': t('Comment'), value: start.comment, maxLength: 2000 })
  const typed = () => ({
    z: z.value.trim(),
    quality: qualityInputs.find((input) => input.checked)?.value ?? '',
    issues: issueInputs.map((input) => (input.checked ? input.value : '')).join(''),
    spectype: spectype.value,
    comment: comment.value.trim(),
  })
  const keep = () => unsent.keep(typed())
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault()
    event.stopPropagation()
    const entered = typed()
    const value = entered.z ? parseNumber(entered.z) : null
    if (value !== null && !(value > -1 && value <= 20)) {
      fill(note, t('z: found “{z}”, expected a number above −1, 20 at most, or nothing', { z: entered.z }))
      note.hidden = false
      z.focus()
      return
    }
    save({ ...entered, z: value, quality: entered.quality === '' ? null : Number(entered.quality) })
  }
  const onKeydown = (/** @type {KeyboardEvent} */ event) => {
    if (isComposing(event)) return
    const { target } = event
    if (event.key === 'Enter' && !event.shiftKey && !(target instanceof HTMLButtonElement)) return submit(event)
    if (target === z || target === comment) return
    const key = nameOf(event, (name) => name.length === 1)?.toUpperCase()
    const input = [...qualityInputs, ...issueInputs].find(({ value }) => value === key)
    if (input) {
      input.checked = input.type === 'checkbox' ? !input.checked : true
      input.focus()
      keep()
    } else if (key === 'P' && plotted !== null) take.click()
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const group = (/** @type {string} */ title, /** @type {any[]} */ ...content) =>
    h('fieldset', h('legend', title), content)
  return h(
    'form.reasons.inspection-form',
    { onInput: keep, onKeydown, onSubmit: submit },
    group(t('Redshift, in the medium of the spectrum'), h('div.line', z, take)),
    group(
      t('Quality'),
      rated.map(([value, text], at) => h('label', qualityInputs[at], ' ', cap(value), ' ', text)),
      h('label', withParts(t('{noQuality} not given'), { noQuality: quality('') })),
    ),
    group(
      t('Issues'),
      Object.entries(issues).map(([letter, text], at) =>
        h('label', issueInputs[at], ' ', cap(letter.toLowerCase()), ' ', text),
      ),
    ),
    group(t('Class'), spectype),
    group(t('Comment'), comment),
    others.length > 0 &&
      group(t('Others'), ...others.map((other) => h('p', h('strong', other.person), ` ${inLine(other)}`))),
    merged && merged.people.length > 1 && h(`p.note${merged.conflict.length ? '.look' : ''}`, mergedText(merged)),
    note,
    h('footer', h('button.primary', { type: 'submit' }, withParts(t('Save inspection {cap}'), { cap: cap('Enter') }))),
  )
}

/** @param {NonNullable<Item['inspection']['merged']>} merged */
function mergedText({ people, z, quality, spectype, secure, conflict }) {
  if (conflict.length)
    return t('{people} differ in {conflict}: a third person decides.', {
      people: people.join(', '),
      conflict: conflict.map(word).join(', '),
    })
  const parts = [
    z !== null && `z ${redshift(z)}`,
    quality !== null && t('quality {quality}', { quality }),
    spectype,
    secure && t('secure'),
  ]
  return t('Together: {found}', { found: parts.filter(Boolean).join(' · ') })
}

/** An inspection in one line, e.g. "z 0.3688000 · quality 4 · issues RC · QSO". @param {Inspection} inspection */
export function inLine({ z, quality, issues, spectype, comment }) {
  return [
    z !== null && `z ${redshift(z)}`,
    quality !== null && t('quality {quality}', { quality }),
    issues && t('issues {issues}', { issues }),
    spectype,
    comment && `“${comment}”`,
  ]
    .filter(Boolean)
    .join(' · ')
}

/** What this person found, and whether people differ, in the header. @param {Item} item @param {() => void} onClick */
export function inspectionButton({ inspection: { mine, merged } }, onClick) {
  const conflict = merged?.conflict.length
    ? t(', people differ: {conflict}', { conflict: merged.conflict.map(word).join(', ') })
    : ''
  if (!mine && !conflict) return null
  const text = (mine && inLine({ ...mine, comment: '' })) || t('inspection')
  const title = t('Your redshift, quality, issues and class of this spectrum{conflict}', { conflict })
  return h(`button.guide.inspection${conflict ? '.amber' : ''}`, { title, onClick }, text)
}

const triedName = (/** @type {string} */ initials, /** @type {number} */ item) => `so-z ${initials} ${item}`

/**
 * The redshift at which the plot of an item starts: the last one tried in this browser, otherwise that of the person's
 * inspection; null for the file's.
 * @param {string} initials @param {Item} item
 * @returns {number | null}
 */
export function ownRedshift(initials, item) {
  const tried = lasting.read(triedName(initials, item.id))
  if (tried && tried.born === item.version.at) return tried.z
  return item.inspection.mine?.z ?? null
}

/**
 * Keep a redshift that was tried.
 * @param {string} initials @param {Item} item @param {number} z @param {number} known the file's
 */
export function keepTried(initials, item, z, known) {
  const starts = item.inspection.mine?.z ?? known
  if (z === starts) forgetTried(initials, item.id)
  else lasting.set(triedName(initials, item.id), JSON.stringify({ z, born: item.version.at }))
}

/** @param {string} initials @param {number} item */
export const forgetTried = (initials, item) => lasting.remove(triedName(initials, item))
