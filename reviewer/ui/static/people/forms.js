// What the dialogs of the People tab share: forms and buttons with a line for what happened, lists, and secrets.

import { fill, h, part } from '../common/dom.js'
import { getJSON, postJSON } from '../common/http.js'
import { t } from '../common/language.js'
import { Notices } from '../common/notices.js'
import { openPanel } from '../common/panels.js'
import { openSignIn } from '../status/sign_in.js'

/** Do what a button is pressed for; where nobody is signed in any more, the person signs in over the dialog. */
async function attempt(me, notices, button, work) {
  button.disabled = true
  try {
    await work()
  } catch (/** @type {any} */ error) {
    notices.error(error)
    if (error.kind === 'signed_out') openSignIn(me)
  }
  button.disabled = false
}

/** A button whose refusal is said in `notices`. */
export function action(me, notices, label, work, tag = 'button') {
  const button = h(tag, { onClick: () => attempt(me, notices, button, work) }, label)
  return button
}

/** A form with its button. @param {(data: FormData) => Promise<any>} send */
export function form(me, fields, act, send, tag = 'button.primary', notices = new Notices()) {
  const button = h(tag, { type: 'submit' }, act)
  const onSubmit = (/** @type {Event} */ event) => {
    event.preventDefault()
    attempt(me, notices, button, () => send(new FormData(root)))
  }
  const root = h('form.fields', { onSubmit }, fields, notices.line, h('footer', { role: 'none' }, button))
  return root
}

/** A dialog of one form; the answer that `send` gets says what was done. */
export const openForm = (me, title, fields, act, send, notices = new Notices()) =>
  openPanel(title, (close) => form(me, fields, act, async (data) => close((await send(data)).text), undefined, notices))

export function passwordLine(name, label, placeholder = '', autocomplete = 'new-password') {
  const props = { type: 'password', autocomplete, required: true, name, placeholder }
  return h('label.field', label, h('input', props))
}

/** A password for another person: typed, or generated and shown once. */
export function passwordFields(me, label, placeholder) {
  const field = passwordLine('password', label, placeholder)
  const input = /** @type {HTMLInputElement} */ (part(field, 'input'))
  const tick = h('input', { type: 'checkbox', onChange: () => (input.type = tick.checked ? 'text' : 'password') })
  const [notices, copy] = [new Notices(), copyButton(input)]
  const generate = async () => {
    const { password } = await postJSON('/api/v1/people/password', {})
    Object.assign(input, { value: password, type: 'text' })
    tick.checked = true
    copy.hidden = false
    notices.show(t('Copy this password now and give it to the person: it is not shown again.'))
  }
  copy.hidden = true
  const shown = h('label', tick, ' ', t('Show the password'))
  const buttons = h('div.controls', shown, action(me, notices, t('Generate a password'), generate), copy)
  return [field, buttons, notices.line]
}

function copyButton(input) {
  // Where the browser gives no access to the clipboard (a page without HTTPS), the text is selected.
  const copy = () => (navigator.clipboard ? navigator.clipboard.writeText(input.value) : input.select())
  return h('button', { onClick: copy }, t('Copy'))
}

/** A dialog of a list with a form that adds to it; `rows` gets the answer, the notices, and what draws again. */
export function openList(me, title, about, { path, rows, field, more, act, body, secret }) {
  const [list, place, notices] = [h('div'), h('div.controls'), new Notices()]
  const show = async () => fill(list, rows(await getJSON(path), notices, show))
  const add = async (data) => {
    const [label, value, warning] = secret(await postJSON(path, body(data)))
    const input = h('input', { readOnly: true, value })
    fill(place, h('label.field', label, input), copyButton(input))
    notices.show(warning)
    field.lastChild.value = ''
    await show()
  }
  show().catch((error) => notices.error(error))
  const [first, adding] = [h('p.muted', about), form(me, [field, more], act, add)]
  return openPanel(title, h('div.sections', first, h('div.fields', list, place, notices.line), adding))
}

export const pill = (text, tone = '') => h('span', { className: `pill ${tone}` }, text)
