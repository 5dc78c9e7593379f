// Signing in again on the page itself, so that everything typed on it stays where it is.

import { address } from '../common/address.js'
import { h } from '../common/dom.js'
import { checkServer, signIn } from '../common/http.js'
import { isTyping } from '../common/keys.js'
import { t } from '../common/language.js'
import { showError } from '../common/notices.js'
import { openPanel, panelIsOpen } from '../common/panels.js'

/** Open the form, over a dialog that is open: what was typed there stays. @param {Person} person of this page */
export function openSignIn({ initials, has_password: hasPassword }) {
  if (document.querySelector('dialog.panel .sign-in')) return
  const content = (/** @type {() => void} */ close) => {
    const password = h('input', { type: 'password', name: 'password', autocomplete: 'current-password' })
    const problem = h('p.note.look', { role: 'alert', hidden: true })
    const button = h('button.primary', { type: 'submit' }, t('Sign in'))
    const submit = async (/** @type {Event} */ event) => {
      event.preventDefault()
      button.disabled = true
      try {
        await signIn(initials, password.value)
        close()
        checkServer()
      } catch (error) {
        showError(problem, error)
        button.disabled = false
        password.focus()
      }
    }
    const another = h(
      'a.link',
      { href: address(`/sign-in${location.hash}`), onClick: () => close() },
      t('Sign in another way, or as another person'),
    )
    queueMicrotask(() => (hasPassword ? password : button).focus())
    return h(
      'form.reasons.sign-in',
      { onSubmit: submit },
      h('p', t('You are signed out. What you typed on this page stays; sign in, then go on.')),
      h('label', t('Initials'), h('input', { name: 'initials', value: initials, readOnly: true })),
      hasPassword && h('label', t('Password'), password),
      problem,
      h('footer', button, another),
    )
  }
  openPanel(t('Sign in again'), content, { over: true })
}

/** Whether a form may come in front now: not while the person types. */
export const mayInterrupt = () => !isTyping(document.activeElement) && !panelIsOpen()
