// Text storage in the browser. If it is full or forbidden to this site, texts are kept on the page only, without an
// error; `set` and `refused` report it.

import { basePath } from './address.js'

// Apps below several paths of one host share its storage: each has names of its own.
const OWN = basePath === '/' ? '' : `${basePath} `
const COMMON = 'so-theme' // a choice for all of them, which first_theme.js reads
const keyOf = (/** @type {string} */ name) => (name === COMMON ? name : OWN + name)

class Storage {
  /** @param {() => globalThis.Storage} place called at each access, which raises if the browser forbids storage */
  constructor(place) {
    this.place = place
    this.onPage = new Map() // texts that the browser refused
    this.tooLong = Infinity // length of the shortest refused text, until one as long is accepted
  }

  get(name) {
    if (this.onPage.has(name)) return this.onPage.get(name)
    try {
      return this.place().getItem(keyOf(name))
    } catch {
      return null
    }
  }

  /** Store a text; false if the browser refused, and it is stored on the page only. */
  set(name, text) {
    try {
      this.place().setItem(keyOf(name), text)
      this.onPage.delete(name)
      if (text.length >= this.tooLong) this.tooLong = Infinity
      return true
    } catch {
      this.#drop(name) // or an older text under this name would be found
      this.onPage.set(name, text)
      this.tooLong = Math.min(this.tooLong, text.length)
      return false
    }
  }

  /** Whether the browser refused a text: texts of that length are on the page only. */
  get refused() {
    return this.tooLong < Infinity
  }

  remove(name) {
    this.onPage.delete(name)
    this.#drop(name)
  }

  #drop(name) {
    try {
      this.place().removeItem(keyOf(name))
    } catch {
      // nothing was stored
    }
  }

  /** Read a stored JSON value; null if there is none, or it cannot be read. */
  read(name) {
    try {
      return JSON.parse(this.get(name))
    } catch {
      return null
    }
  }

  names(prefix) {
    const names = [...this.onPage.keys()]
    try {
      for (const key of Object.keys(this.place())) if (key.startsWith(OWN)) names.push(key.slice(OWN.length))
    } catch {
      // nothing was stored
    }
    return names.filter((name) => name.startsWith(prefix))
  }
}

/** Storage that lasts until it is cleared. */
export const lasting = new Storage(() => localStorage)

/** Storage that lasts as long as this browser tab is open, reloads included. */
export const thisTab = new Storage(() => sessionStorage)
