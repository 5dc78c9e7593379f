// Spectra of the library's items: type, pick.

import { fill, h } from '../common/dom.js'
import { getJSON } from '../common/http.js'
import { openPanel } from '../review/panels.js'
import { surveyOf } from '../review/queue_view.js'

const SHOWN = 30

/** Spectra that fit some words, most fitting first. */
export const findInLibrary = (q, limit = SHOWN) => getJSON(`/api/live/library?${new URLSearchParams({ q, limit })}`)

/** Let the person pick one. Resolves with its row of the library, or null. */
export function pickFromLibrary(tasks) {
  return openPanel(
    'From the library',
    (dialog) => {
      const found = h('div.found', { role: 'listbox', 'aria-label': 'Spectra in the library' })
      const take = (row) => {
        dialog.result = row
        dialog.close()
      }
      let asked = 0
      const look = async () => {
        const ticket = ++asked
        let rows
        try {
          rows = await findInLibrary(field.value.trim())
        } catch (error) {
          fill(found, h('p.note.look', {}, error.message))
          return
        }
        if (ticket !== asked) return
        fill(
          found,
          rows.map((row) => option(row, tasks, take)),
          !rows.length &&
            h(
              'p.muted',
              {},
              field.value.trim()
                ? 'Nothing in the library fits these words.'
                : 'The library holds no spectra yet. Drop a file on the page instead.',
            ),
        )
      }
      let soon
      const field = h('input', {
        type: 'search',
        placeholder: 'part of a name, a survey, a class',
        'aria-label': 'Search the library',
        autocomplete: 'off',
        onInput: () => {
          clearTimeout(soon)
          soon = setTimeout(look, 150)
        },
        onKeydown: (event) => {
          if (event.key === 'Enter') {
            event.preventDefault()
            found.querySelector('button')?.click()
          }
        },
      })
      dialog.addEventListener('keydown', (event) => walk(event, [field, ...found.querySelectorAll('button')]))
      look()
      queueMicrotask(() => field.focus())
      return h('div.picking', {}, field, found)
    },
    { wide: false },
  )
}

function option(row, tasks, take) {
  return h(
    'button.option',
    { type: 'button', role: 'option', onClick: () => take(row) },
    h('span.name', {}, row.name),
    h(
      'span.muted',
      {},
      [tasks[row.task]?.title ?? row.task, surveyOf(row), row.snr !== null && `S/N ${Math.round(row.snr)}`]
        .filter(Boolean)
        .join(' · '),
    ),
    row.simulated && h('span.pill.grey', {}, 'simulated'),
  )
}

/** Arrow keys go through the field and what was found. */
function walk(event, places) {
  const by = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  if (!by) return
  event.preventDefault()
  const at = places.indexOf(document.activeElement)
  places[Math.max(0, Math.min(places.length - 1, at + by))]?.focus()
}
