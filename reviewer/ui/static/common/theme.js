// The dark and the light theme of the page, and of the parts that draw with their own colours.

import { lasting } from './browser_storage.js'

/** Change the page's theme, and remember it. */
export function toggleTheme() {
  const theme = document.documentElement.dataset.theme === 'dark' ? 'light' : 'dark'
  document.documentElement.dataset.theme = theme
  document.documentElement.classList.toggle('dark', theme === 'dark')
  document.body.classList.toggle('dark', theme === 'dark')
  lasting.set('so-theme', theme)
}

/**
 * Call `onChange` at each change of the theme.
 * @param {(theme: string) => void} onChange @returns {() => void} ends it
 */
export function onTheme(onChange) {
  let known = document.documentElement.dataset.theme
  const observer = new MutationObserver(() => {
    const { theme } = document.documentElement.dataset
    if (theme === known) return
    known = theme
    onChange(theme ?? '')
  })
  observer.observe(document.documentElement, { attributeFilter: ['data-theme'] })
  return () => observer.disconnect()
}
