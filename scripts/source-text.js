// TypeScript source as text, without a compiler: what is code and what is comment, string or regular expression. Shared by
// the lint of dead exports, which runs before anything is compiled, and by the tests about the shape of the source.

/** What may stand before a slash that begins a regular expression. */
const BEFORE_REGEX = /(?:^|[=(,:[!&|?{};>+]|\breturn|\btypeof|\bcase)\s*$/;

/**
 * One pass over a text that knows comments, strings, templates and regular expressions apart. `code` is the text with its
 * comments blanked out; in `bare` the contents of strings, templates and regular expressions are, too. Lines stay where
 * they are.
 */
export function blank(text) {
  const code = text.split('');
  const bare = text.split('');
  const wipe = (target, from, to) => {
    for (let i = from; i < to; i++) if (text[i] !== '\n') target[i] = ' ';
  };
  /** Depth of braces inside each template that is open. */
  const templates = [];
  let i = 0;
  const template = () => {
    const from = i;
    while (i < text.length && text[i] !== '`' && !(text[i] === '$' && text[i + 1] === '{'))
      i += text[i] === '\\' ? 2 : 1;
    wipe(bare, from, i);
    if (text[i] === '`') i++;
    else {
      templates.push(0);
      i += 2;
    }
  };
  while (i < text.length) {
    const two = text.slice(i, i + 2);
    const one = text[i];
    if (two === '//' || two === '/*') {
      const end = two === '//' ? text.indexOf('\n', i) : text.indexOf('*/', i) + 2;
      const to = end < i ? text.length : end;
      wipe(code, i, to);
      wipe(bare, i, to);
      i = to;
    } else if (one === "'" || one === '"') {
      const from = ++i;
      while (i < text.length && text[i] !== one) i += text[i] === '\\' ? 2 : 1;
      wipe(bare, from, i++);
    } else if (one === '`') {
      i++;
      template();
    } else if (one === '/' && BEFORE_REGEX.test(text.slice(Math.max(0, i - 12), i))) {
      const from = ++i;
      let inClass = false;
      while (i < text.length && text[i] !== '\n' && (inClass || text[i] !== '/')) {
        if (text[i] === '[') inClass = true;
        else if (text[i] === ']') inClass = false;
        i += text[i] === '\\' ? 2 : 1;
      }
      wipe(bare, from, i++);
    } else if (templates.length > 0 && (one === '{' || one === '}')) {
      const top = templates.length - 1;
      i++;
      if (one === '{') templates[top]++;
      else if (templates[top] > 0) templates[top]--;
      else {
        templates.pop();
        template();
      }
    } else {
      i++;
    }
  }
  return { code: code.join(''), bare: bare.join('') };
}
