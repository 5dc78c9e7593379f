// Dark or light: the whole page, and whatever draws in colours of its own.

import { lasting } from './browser_storage.js'

/** Change the page's theme, and remember it. */
export function toggleTheme() {
  const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = theme
  document.documentElement.classList.toggle('dark', theme === 'dark')
  document.body.classList.toggle('dark', theme === 'dark')
  lasting.set('so-theme', theme)
}

/** Hear of each change of theme, whoever made it. */
export function onTheme(hear) {
  let known = document.documentElement.dataset.theme
  new MutationObserver(() => {
    const { theme } = document.documentElement.dataset
    if (theme === known) return
    known = theme
    hear(theme)
  }).observe(document.documentElement, { attributeFilter: ['data-theme'] })
}
