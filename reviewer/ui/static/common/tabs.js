// The tabs of the page: opened from elsewhere, and found again after a reload.

import { thisTab } from './browser_storage.js'

const LEFT_AT = 'so-tab'

/** Bring a tab to the front, by the word on it. */
export function openTab(name) {
  const found = [...document.querySelectorAll('#so-tabs [role=tab]')].find((tab) => tab.textContent.trim() === name)
  found?.click()
}

/** A reload of the page comes back to this tab for as long as it is in front. */
export function comeBackTo(name, root) {
  new IntersectionObserver((entries) => {
    if (entries.at(-1).isIntersecting) thisTab.set(LEFT_AT, name)
    else if (thisTab.get(LEFT_AT) === name) thisTab.remove(LEFT_AT)
  }).observe(root)
}

/** Do something each time a tab comes to the front again; not when it is first shown. */
export function whenBack(root, act) {
  let wasAway = false
  new IntersectionObserver((entries) => {
    const inFront = entries.at(-1).isIntersecting
    if (inFront && wasAway) act()
    wasAway = !inFront
  }).observe(root)
}

/** After a reload: the tab that was in front. */
export function comeBack() {
  const name = thisTab.get(LEFT_AT)
  if (name) openTab(name)
}
