// Dark or light, before anything is painted. It runs in the page's head, where there is no body yet, and once more when
// Gradio has put up its page, which chooses for itself.
{
  const night = matchMedia('(prefers-color-scheme: dark)').matches
  /** @type {string | null} */
  let kept = null
  try {
    kept = localStorage.getItem('so-theme')
  } catch {
    /* a browser that keeps nothing */
  }
  document.documentElement.dataset.theme = kept ?? (night ? 'dark' : 'light')
  document.body?.classList.toggle('dark', document.documentElement.dataset.theme === 'dark')
}
