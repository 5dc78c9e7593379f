// The fields of forms and dialogs.

import { h } from './dom.js'
import { t } from './language.js'

/** Choices under a title. @param {string} title @param {string} hint @param {(HTMLElement | null)[]} choices */
export function group(title, hint, choices) {
  const legend = h('legend', title, hint && h('span.muted', ` · ${hint}`))
  return h('fieldset', legend, h('div.choices', choices.length ? choices : h('span.muted', t('nothing here yet'))))
}

/** One of several values, all in view; the first one is chosen. @param {[string, string][]} values value and text */
export function radios(title, name, values) {
  const radio = (value, at) => h('input', { type: 'radio', name, value, checked: at === 0 })
  const choices = values.map(([value, text], at) => h('label', radio(value, at), ' ', text))
  return group(title, '', choices)
}

/** A box to tick, with a note behind its text. */
export const check = (name, value, text, note = '', checked = false) =>
  h('label', h('input', { type: 'checkbox', name, value, checked }), ' ', text, ' ', h('span.muted.hand', note))

/** A text in a line of its own. @param {Record<string, any>} props of the input */
export const line = (name, label, props) => h('label.field', label, h('input', { ...props, name, autocomplete: 'off' }))

/** @param {Record<string, any>} props of the input; `title` explains the field */
export const number = (name, label, props) =>
  h('label', { title: props.title }, label, h('input', { ...props, name, type: 'number' }))

/**
 * One of several values in a list; the first one is chosen where `chosen` is none of them.
 * @param {string[][]} values value and text of each @param {string} [chosen]
 */
export function select(name, label, values, chosen) {
  const options = values.map(([value, text]) => h('option', { value, selected: value === chosen }, text))
  return h('label', label, h('select', { name }, options))
}

/** A part of the form that opens with a click on its title. @param {string} title @param {...any} parts */
export const folded = (title, ...parts) => h('details', h('summary', title), parts)
