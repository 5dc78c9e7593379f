// What Gradio (6.31) says in English in every language: names of buttons, and stored values as tooltips of choices.

import { t, tn } from '../common/language.js'

const FORMS = '#so-tab-people'
/** @type {Record<string, string>} */
const NAMES = { Copy: t('Copy'), Copied: t('Copied') }
const CHOICES = 'input:is([type=checkbox], [type=radio])[title]'

/** Keep the names of Gradio's parts in the language of the page. @param {HTMLElement} tabs */
export function nameGradioParts(tabs) {
  const observer = new MutationObserver((changes) => {
    const forms = changes.map(({ target }) => target instanceof Element && target.closest(FORMS))
    for (const form of new Set(forms)) if (form) name(form)
  })
  for (const form of tabs.querySelectorAll(FORMS)) name(form)
  observer.observe(tabs, { subtree: true, childList: true, attributeFilter: ['aria-label', 'title'] })
}

/** @param {Element} form */
function name(form) {
  // Compared only so that a change which is made already does not call the observer again.
  /* eslint-disable ours/no-logic-on-texts */
  for (const part of form.querySelectorAll('[aria-label]')) {
    for (const where of ['aria-label', 'title']) {
      const own = NAMES[part.getAttribute(where) ?? '']
      if (own && own !== part.getAttribute(where)) part.setAttribute(where, own)
    }
  }
  for (const part of form.querySelectorAll('.uploading')) {
    const count = Number(part.textContent?.match(/^Uploading (\d+)/)?.[1])
    const own = tn('Uploading {n} file …', 'Uploading {n} files …', count)
    if (count && own !== part.textContent) part.textContent = own
  }
  /* eslint-enable ours/no-logic-on-texts */
  // The label says the same, translated.
  for (const choice of form.querySelectorAll(CHOICES)) choice.removeAttribute('title')
}
