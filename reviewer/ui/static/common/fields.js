// The fields of forms and dialogs.

import { h } from './dom.js'
import { t } from './language.js'

/** Choices under a title. @param {string} title @param {string} hint @param {(HTMLElement | null)[]} choices */
export const group = (title, hint, choices) =>
  h(
    'fieldset',
    h('legend', title, hint && h('span.muted', ` · ${hint}`)),
    h('div.choices', choices.length ? choices : h('span.muted', t('nothing here yet'))),
  )

/** One of several values, all in view; the first one is chosen. @param {[string, string][]} values value and text */
export const radios = (title, name, values) =>
  group(
    title,
    '',
    values.map(([value, text], at) =>
      h('label', h('input', { type: 'radio', name, value, checked: at === 0 }), ' ', text),
    ),
  )

/** A box to tick, with a note behind its text. */
export const check = (name, value, text, note = '', checked = false) =>
  h('label', h('input', { type: 'checkbox', name, value, checked }), ' ', text, ' ', h('span.muted.hand', note))

/** A text in a line of its own. @param {Record<string, any>} props of the input */
export const line = (name, label, props) => h('label.field', label, h('input', { ...props, name, autocomplete: 'off' }))

/** @param {Record<string, any>} props of the input; `title` explains the field */
export const number = (name, label, props) =>
  h('label', { title: props.title }, label, h('input', { ...props, name, type: 'number' }))

/** One of several values in a list; the first one is chosen. @param {string[][]} values value and text of each */
export const select = (name, label, values) =>
  h(
    'label',
    label,
    h(
      'select',
      { name },
      values.map(([value, text]) => h('option', { value }, text)),
    ),
  )

/** A part of the form that opens with a click on its title. @param {string} title @param {...any} parts */
export const folded = (title, ...parts) => h('details', h('summary', title), parts)
