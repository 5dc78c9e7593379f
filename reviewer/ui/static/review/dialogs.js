// Dialogs of the Review tab: the reason of a rejection, a comment, the history, two texts to choose between.

import { dateAndTime } from '../common/format.js'
import { lasting } from '../common/browser_storage.js'
import { cap, fill, h } from '../common/dom.js'
import { digitOf, isComposing } from '../common/keys.js'
import { t, tn, withParts, word } from '../common/language.js'
import { linkTo } from '../common/links.js'
import { closePanel, openPanel } from '../common/panels.js'
import { diffSteps } from '../trace/steps.js'

/**
 * Text of a dialog that has not been sent, in the browser's storage: offered when the same dialog of the same item is
 * opened again, and removed once the server has it.
 */
export class UnsentAnswer {
  #name
  #born

  /** @param {string} initials @param {Item} item @param {string} dialog e.g. "reject", or "note s3" */
  constructor(initials, item, dialog) {
    this.#name = `so-dialog ${initials} ${item.id} ${dialog}`
    this.#born = item.version.at
  }

  /** What was typed; null for nothing, or where it was typed in another database behind the same address. */
  read() {
    const stored = lasting.read(this.#name)
    return stored && stored.born <= this.#born ? stored.answer : null
  }

  /** @param {Record<string, string | null>} answer the fields of the dialog */
  keep(answer) {
    lasting.set(this.#name, JSON.stringify({ born: this.#born, answer }))
  }

  forget() {
    lasting.remove(this.#name)
  }
}

/** Whether a key press sends the form: Enter, wherever it is pressed; Shift Enter makes a new line. */
const sends = (/** @type {KeyboardEvent} */ event) =>
  event.key === 'Enter' &&
  !event.shiftKey &&
  !isComposing(event) &&
  !(event.target instanceof HTMLElement && event.target.closest('button'))

/**
 * The form of a dialog: its fields, and the button that sends it.
 * @param {HTMLElement} dialog @param {() => void} submit @param {() => void} onInput
 * @param {import('../common/dom.js').Child[]} fields @param {HTMLButtonElement} button
 */
function formOf(dialog, submit, onInput, fields, button) {
  const send = (/** @type {Event} */ event) => {
    event.preventDefault()
    submit()
  }
  dialog.addEventListener('keydown', (event) => sends(event) && send(event))
  button.type = 'submit'
  return h(
    'form.reasons',
    { onInput, onSubmit: send },
    fields,
    h(
      'footer',
      h('span.muted', withParts(t('{cap} {cap2} new line'), { cap: cap('Shift'), cap2: cap('Enter') })),
      h('span.spring'),
      button,
    ),
  )
}

/**
 * Open a dialog for the reason of a rejection: digits choose, Enter rejects.
 * @param {Record<string, string>} reasons @param {string} comment @param {UnsentAnswer} unsent
 * @returns {Promise<{reason: string, comment: string} | null>}
 */
export function askReason(reasons, comment, unsent) {
  const typed = unsent.read()
  return openPanel(t('Reject: why?'), (close, dialog) => {
    const text = h('textarea', {
      value: typed?.text || comment,
      rows: 3,
      placeholder: t('in your own words (needed for “Other”)'),
      'aria-label': t('Comment'),
    })
    const note = h('p.note.look', { hidden: true, role: 'alert' })
    const choices = Object.entries(reasons).map(([value, label]) => ({
      label,
      input: h('input', { type: 'radio', name: 'reason', value, checked: value === typed?.reason }),
    }))
    const chosen = () => choices.find(({ input }) => input.checked)?.input.value ?? null
    const changed = () => {
      note.hidden = true
      unsent.keep({ reason: chosen(), text: text.value })
    }
    const submit = () => {
      const reason = chosen()
      if (reason && (reason !== 'other' || text.value.trim())) return close({ reason, comment: text.value.trim() })
      note.hidden = false
      fill(note, reason ? t('Give the reason in a few words.') : t('Choose a reason.'))
      return undefined
    }
    dialog.addEventListener('keydown', (event) => {
      const choice = event.target === text ? undefined : choices[Number(digitOf(event)) - 1]
      if (!choice) return
      event.preventDefault()
      choice.input.checked = true
      choice.input.focus()
      changed()
      if (choice.input.value === 'other') text.focus()
    })
    queueMicrotask(() => (choices.find(({ input }) => input.checked) ?? choices[0])?.input.focus())
    const labels = choices.map(({ label, input }, at) => h('label', input, ' ', cap(String(at + 1)), ' ', label))
    const reject = h('button.danger', withParts(t('Reject {cap}'), { cap: cap('Enter') }))
    return formOf(dialog, submit, changed, [labels, text, note], reject)
  })
}

/**
 * Open a dialog for a short text: Enter sends it.
 * @param {string} title @param {string} value @param {string} action the label of the button
 * @param {UnsentAnswer} unsent @returns {Promise<string | null>}
 */
export function askText(title, value, action, unsent) {
  return openPanel(title, (close, dialog) => {
    const area = h('textarea', { value: unsent.read()?.text ?? value, rows: 3, 'aria-label': title })
    queueMicrotask(() => area.focus())
    const keep = () => unsent.keep({ text: area.value })
    return formOf(dialog, () => close(area.value.trim()), keep, [area], h('button.primary', action, ' ', cap('Enter')))
  })
}

/**
 * Show where texts disagree with their tool calls or with the answer, and let the person decide in spite of it.
 * @param {import('./statements.js').Disagreement[]} open @param {string} action the label of the button
 * @returns {Promise<'confirm' | 'first' | null>}
 */
export function confirmDisagreements(open, action) {
  const count = tn('1 statement disagrees', '{n} statements disagree', open.length)
  return openPanel(t('{count} with the tool calls or the answer', { count }), (close) => {
    const first = h('button.primary', { onClick: () => close('first') }, t('Go to the first'))
    queueMicrotask(() => first.focus())
    return h(
      'div.confirm',
      h(
        'ul',
        open.map(({ text }) => h('li', text)),
      ),
      h('p.note', t('What you confirm is counted in the log and in every export.')),
      h('footer', first, h('button', { onClick: () => close('confirm') }, action)),
    )
  })
}

/** The steps that differ between two texts, each with what was struck out and inserted. */
const differences = (/** @type {Step[]} */ before, /** @type {Step[]} */ after) =>
  diffSteps(before, after)
    .filter(({ change }) => change !== 'same')
    .map(({ title, runs }) => {
      const marked = runs.map(({ op, text }) => (op === '=' ? text : h(op === '-' ? 'del' : 'ins', text)))
      return h('div.diff-row', h('span.pill.grey', title), h('p', marked))
    })

/** Who wrote a text before it was imported; null for a fresh draft. @param {string[]} [authors] */
export const beforeImport = (authors) =>
  authors?.length ? t('written by {authors} before the import', { authors: authors.join(', ') }) : null

/** Versions with author, reason and a diff by step; decisions in order. @param {any} history @param {number} item */
export function openHistory({ versions, decisions, withheld }, item) {
  const diff = h('div.diff')
  const show = (/** @type {number} */ index) => {
    const [before, shown] = [versions[index - 1], versions[index]]
    for (const [at, button] of content.querySelectorAll('.version').entries())
      button.classList.toggle('shown', at === index)
    if (!before) return fill(diff, h('h3', t('Version 1 is the draft; later versions are compared here')))
    const numbers = { number: shown.number, number2: before.number }
    const rows = differences(before.steps, shown.steps)
    return fill(
      diff,
      h('h3', t('Version {number} against {number2}', numbers)),
      rows.length ? rows : h('p.muted', t('The same steps.')),
    )
  }
  const versionLine = ({ number, author, before_import: authors, at: iso, reason }, at) => {
    const values = { number, author: author ?? beforeImport(authors) ?? t('drafted'), at: dateAndTime(iso) }
    const button = { title: t('what it changed'), onClick: () => show(at) }
    return h(
      'li',
      h('button.link.version', button, t('v{number} · {author} · {at}', values)),
      reason && h('span', ` “${reason === 'draft' ? t('draft') : reason}”`),
      ' ',
      h('a.link', { href: linkTo({ item, version: number }), onClick: closePanel }, t('read')),
    )
  }
  const decisionLine = ({ person, verb, round, version, at, reason, comment, withdrawn }) =>
    h(
      `li${withdrawn ? '.withdrawn' : ''}`,
      withParts(t('{h} {verb} in {round}'), { h: h('strong', person), verb: word(verb), round: word(round) }),
      version ? t(' on v{version}', { version }) : '',
      at ? ` · ${dateAndTime(at)}` : '',
      reason && ` · ${reason}`,
      comment && h('span', ` “${comment}”`),
    )
  const content = h(
    'div.history',
    withheld && h('p.note', t('What others decided, and earlier texts, are shown once you have decided.')),
    h('ol.timeline', versions.map(versionLine)),
    h('ol.timeline', decisions.map(decisionLine)),
    diff,
  )
  if (versions.length) show(versions.length - 1)
  return openPanel(t('History'), content, { wide: true })
}

/**
 * Two texts, step by step where they differ, and what may be done with them; resolves with the name of the choice, or
 * null.
 * @param {string} title @param {string[]} lines @param {Step[]} mine @param {Step[]} theirs
 * @param {string[][]} choices name, label and style of each button @returns {Promise<string | null>}
 */
function chooseBetween(title, lines, mine, theirs, choices) {
  const content = (/** @type {(name: string) => void} */ close) =>
    h(
      'div.history',
      lines.map((line, at) => h(`p${at ? '.muted' : ''}`, line)),
      h('div.diff', differences(theirs, mine)),
      h('footer', ...choices.map(([name, label, style]) => h(`button${style}`, { onClick: () => close(name) }, label))),
    )
  return openPanel(title, content, { wide: true })
}

/** A conflict with another person's version: both texts for comparison; nothing is merged or lost. */
export function openConflict(message, mine, theirs, who) {
  const meaning = t(
    'Struck out: {who}. Inserted: yours. Your text is kept; load theirs and copy into it what ' + 'you want to keep.',
    { who },
  )
  return chooseBetween(t('The item has a newer version'), [message, meaning], mine, theirs, [
    ['discard', t('Discard mine'), '.danger'],
    ['theirs', t('Show {who}', { who }), '.primary'],
    ['rebase', t('Replace its steps by mine'), ''],
  ])
}

/** Two unsent texts of one person: that of another tab or machine, and the one on the page. */
export function openTexts(other, onPage) {
  const meaning = t('Struck out: the text on this page. Inserted: the other one.')
  const lines = [t('You have written on this item twice.'), meaning]
  return chooseBetween(t('You have two unsent texts'), lines, other, onPage, [
    ['discard', t('Discard the other one'), '.danger'],
    ['keep', t('Keep both for now'), '.primary'],
    ['rebase', t('Use the other one'), ''],
  ])
}
