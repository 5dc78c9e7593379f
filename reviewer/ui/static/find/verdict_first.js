// “Verdict first” of the Review tab, which hides answers until the person has given theirs, counts in Find too.

import { lasting } from '../common/browser_storage.js'

/** An address of the server, with the choice of the person. @param {string} path */
export function withVerdictFirst(path) {
  if (lasting.get('so-verdict-first') !== 'yes') return path
  return `${path}${path.includes('?') ? '&' : '?'}verdict_first=true`
}
