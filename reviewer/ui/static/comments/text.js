// The text of a comment as elements: initials after an @ are marked, addresses of web pages are links. Everything else
// is plain text, whatever it contains.

import { h } from '../common/dom.js'

// Chinese, Japanese and Korean are written without spaces: "请@AB看一下" names AB. The server has the same rule
// (reviewer/store/team/mentions.py).
export const IDEOGRAPHS = '\\u3040-\\u30ff\\u3400-\\u4dbf\\u4e00-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff'
const OF_A_WORD = `(?![${IDEOGRAPHS}])[\\p{L}\\p{N}_]`
// Printable ASCII without " < > `, and letters of other alphabets.
const ADDRESS = new RegExp(`https?:\\/\\/(?:[\\x21\\x23-\\x3b\\x3d\\x3f-\\x5f\\x61-\\x7e]|${OF_A_WORD})+`, 'gu')
const AFTER_IT = `.,;:!?)]}'`

/** @typedef {{kind: 'text' | 'mention' | 'link', text: string}} TextPart */

/**
 * Split a text into plain text, mentions and links.
 * @param {string} text @param {string[]} initials of the people who can be mentioned
 * @returns {TextPart[]}
 */
export function partsOf(text, initials) {
  /** @type {TextPart[]} */
  const parts = []
  let from = 0
  for (const match of text.matchAll(ADDRESS)) {
    const address = withoutEnd(match[0])
    if (!URL.canParse(address)) continue
    parts.push(...mentionsIn(text.slice(from, match.index), initials), { kind: 'link', text: address })
    from = match.index + address.length
  }
  return [...parts, ...mentionsIn(text.slice(from), initials)].filter((part) => part.text)
}

/** @param {string} text @param {string[]} initials @returns {TextPart[]} */
function mentionsIn(text, initials) {
  if (!initials.length) return [{ kind: 'text', text }]
  const names = [...initials].sort((a, b) => b.length - a.length).join('|') // letters only, so nothing is escaped
  const mention = new RegExp(`(?<!${OF_A_WORD})(?<![.+\\-@])(@(?:${names}))(?!${OF_A_WORD})`, 'u')
  return text.split(mention).map((part, at) => ({ kind: at % 2 ? 'mention' : 'text', text: part }))
}

/** An address without the punctuation of the sentence around it. @param {string} address */
function withoutEnd(address) {
  let end = address.length
  while (AFTER_IT.includes(address[end - 1])) end--
  const bare = address.slice(0, end)
  // A bracket that the address opens belongs to it: https://example.org/H_(alpha)
  return address[bare.length] === ')' && bare.lastIndexOf('(') > bare.lastIndexOf(')') ? `${bare})` : bare
}

/** @param {string} text @param {string[]} initials */
export const textElements = (text, initials) =>
  partsOf(text, initials).map((part) => {
    if (part.kind === 'link')
      return h('a', { href: part.text, target: '_blank', rel: 'noopener noreferrer' }, part.text)
    return part.kind === 'mention' ? h('span.mention', part.text) : part.text
  })
