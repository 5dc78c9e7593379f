// Dialogs of the Review tab: the reason of a rejection, a comment, the history, two texts to choose between.

import { cap, fill, h } from '../common/dom.js'
import { openPanel } from '../common/panels.js'
import { diffSteps } from '../trace/steps.js'

/**
 * Open a dialog for the reason of a rejection: digits choose, Enter rejects.
 * @param {Record<string, string>} reasons @param {string} comment
 * @returns {Promise<{reason: string, comment: string} | null>}
 */
export function askReason(reasons, comment) {
  const entries = Object.entries(reasons)
  return openPanel('Reject: why?', (close, dialog) => {
    const text = h('textarea', {
      value: comment,
      rows: 3,
      placeholder: 'in your own words (needed for “Other”)',
      'aria-label': 'Comment',
    })
    const note = h('p.note.look', { hidden: true })
    const form = h(
      'form.reasons',
      {},
      entries.map(([code, label], at) =>
        h(
          'label',
          {},
          h('input', { type: 'radio', name: 'reason', value: code }),
          ' ',
          cap(String(at + 1)),
          ' ',
          label,
        ),
      ),
      text,
      note,
      h('footer', {}, h('button.danger', { type: 'submit' }, 'Reject ', cap('Enter'))),
    )
    const submit = () => {
      const reason = new FormData(form).get('reason')
      const missing = !reason
        ? 'Choose a reason.'
        : reason === 'other' && !text.value.trim()
          ? 'Give the reason in a few words.'
          : null
      if (missing) {
        note.hidden = false
        fill(note, missing)
        return
      }
      close({ reason: String(reason), comment: text.value.trim() })
    }
    form.addEventListener('submit', (event) => {
      event.preventDefault()
      submit()
    })
    dialog.addEventListener('keydown', (event) => {
      if (event.target === text) {
        if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
          event.preventDefault()
          submit()
        }
        return
      }
      const input = /** @type {HTMLInputElement} */ (form.querySelectorAll('input')[Number(event.key) - 1])
      if (input) {
        input.checked = true
        event.preventDefault()
        if (input.value === 'other') text.focus()
      } else if (event.key === 'Enter') {
        event.preventDefault()
        submit()
      }
    })
    queueMicrotask(() => form.querySelector('input')?.focus())
    return form
  })
}

/**
 * Open a dialog for a short text.
 * @param {string} title @param {string} value @param {string} action the label of the button
 * @returns {Promise<string | null>}
 */
export function askText(title, value, action) {
  return openPanel(title, (close) => {
    const area = h('textarea', { value, rows: 3, 'aria-label': title })
    const take = () => {
      close(area.value.trim())
    }
    area.addEventListener('keydown', (event) => {
      if (event.key === 'Enter' && !event.shiftKey) {
        event.preventDefault()
        take()
      }
    })
    queueMicrotask(() => area.focus())
    return h(
      'form.reasons',
      {
        onSubmit: (e) => {
          e.preventDefault()
          take()
        },
      },
      area,
      h('footer', {}, h('button.primary', { type: 'submit' }, action, ' ', cap('Enter'))),
    )
  })
}

const when = (iso) => new Date(iso).toLocaleString('sv').slice(0, 16)

const runsOf = (runs) => runs.map((r) => (r.op === '=' ? r.text : h(r.op === '-' ? 'del' : 'ins', {}, r.text)))

/** Versions with author, reason and a diff by step; decisions in order. */
export function openHistory(history) {
  const { versions, decisions, withheld } = history
  const diff = h('div.diff')
  const show = (index) => {
    const rows =
      index === 0 ? [] : diffSteps(versions[index - 1].steps, versions[index].steps).filter((r) => r.change !== 'same')
    for (const [at, button] of content.querySelectorAll('.version').entries())
      button.classList.toggle('shown', at === index)
    fill(
      diff,
      h(
        'h3',
        {},
        index === 0
          ? 'Version 1 is the draft; later versions are compared here'
          : `Version ${versions[index].number} against ${versions[index - 1].number}`,
      ),
      index > 0 && !rows.length && h('p.muted', {}, 'The same steps.'),
      rows.map((r) =>
        h(
          'div.diff-row',
          {},
          h('span.pill.grey', {}, `${r.kind} ${r.id.slice(1)} ${r.change}`),
          h('p', {}, runsOf(r.runs)),
        ),
      ),
    )
  }
  const content = h(
    'div.history',
    {},
    withheld && h('p.note', {}, 'What others decided, and earlier texts, are shown once you have decided.'),
    h(
      'ol.timeline',
      {},
      versions.map((v, at) =>
        h(
          'li',
          {},
          h(
            'button.link.version',
            { type: 'button', title: 'what it changed', onClick: () => show(at) },
            `v${v.number} · ${v.author ?? 'drafted'} · ${when(v.at)}`,
          ),
          v.reason && h('span', {}, ` “${v.reason}”`),
        ),
      ),
    ),
    h(
      'ol.timeline',
      {},
      decisions.map((d) =>
        h(
          `li${d.withdrawn ? '.withdrawn' : ''}`,
          {},
          h('strong', {}, d.person),
          ` ${d.verb} in ${d.round}`,
          d.version ? ` on v${d.version}` : '',
          d.at ? ` · ${when(d.at)}` : '',
          d.reason && ` · ${d.reason}`,
          d.comment && h('span', {}, ` “${d.comment}”`),
        ),
      ),
    ),
    diff,
  )
  if (versions.length) show(versions.length - 1)
  return openPanel('History', content, { wide: true })
}

/**
 * Two texts, step by step where they differ, and what may be done with them; resolves with the name of the choice, or
 * null.
 */
function chooseBetween(title, lines, mine, theirs, choices) {
  const rows = diffSteps(theirs, mine).filter((r) => r.change !== 'same')
  return openPanel(
    title,
    (/** @type {(name: string) => void} */ close) =>
      h(
        'div.history',
        {},
        lines.map((line, at) => h(`p${at ? '.muted' : ''}`, {}, line)),
        h(
          'div.diff',
          {},
          rows.map((r) =>
            h(
              'div.diff-row',
              {},
              h('span.pill.grey', {}, `${r.kind} ${r.id.slice(1)} ${r.change}`),
              h('p', {}, runsOf(r.runs)),
            ),
          ),
        ),
        h(
          'footer',
          {},
          choices.map(([name, label, style]) =>
            h(`button${style}`, { type: 'button', onClick: () => close(name) }, label),
          ),
        ),
      ),
    { wide: true },
  )
}

/** A conflict with another person's version: both texts for comparison; nothing is merged or lost. */
export const openConflict = (message, mine, theirs, who) =>
  chooseBetween(
    'The item has a newer version',
    [
      message,
      `Struck out: ${who}. Inserted: yours. Your text is kept; load theirs and copy into it what you want to keep.`,
    ],
    mine,
    theirs,
    [
      ['discard', 'Discard mine', '.danger'],
      ['theirs', `Show ${who}`, '.primary'],
      ['rebase', 'Replace its steps by mine', ''],
    ],
  )

/** Two unsent texts of one person: that of another tab or machine, and the one on the page. */
export const openTexts = (other, onPage) =>
  chooseBetween(
    'You have two unsent texts',
    ['You have written on this item twice.', 'Struck out: the text on this page. Inserted: the other one.'],
    other,
    onPage,
    [
      ['discard', 'Discard the other one', '.danger'],
      ['keep', 'Keep both for now', '.primary'],
      ['rebase', 'Use the other one', ''],
    ],
  )
