import test from 'ava';
import { PageLinks } from '../../../../api/connect/page-links.ts';

const outside = (reference: string): string => (reference.startsWith('/') ? `/p${reference}` : reference);

/** The page as it comes out when it goes in in pieces of that length. */
function throughPieces(page: string, length: number): string {
  const links = new PageLinks(outside);
  let seen = '';
  for (let at = 0; at < page.length; at += length) seen += links.push(page.slice(at, at + length));
  return seen + links.end();
}

const PAGES: readonly (readonly [page: string, seen: string])[] = [
  ['<a href="/x">/x</a>', '<a href="/p/x">/x</a>'],
  ["<A class=b HREF = '/x?a=1&amp;b=2#c' >", "<A class=b HREF = '/p/x?a=1&amp;b=2#c' >"],
  ['<img src=/i.png alt="/x"/><p title="/x">', '<img src=/p/i.png alt="/x"/><p title="/x">'],
  ['<link rel=x href="/a.css"><a href="b">', '<link rel=x href="/p/a.css"><a href="b">'],
  ['<input disabled formaction="/f" src=\'/s\'>', '<input disabled formaction="/p/f" src=\'/p/s\'>'],
  ['<p data-x=">" ><a title="a>b" href="/x">', '<p data-x=">" ><a title="a>b" href="/p/x">'],
  ['<a title=it\'s href="/x">don\'t', '<a title=it\'s href="/p/x">don\'t'],
  // A page in a comment or a script is no page.
  ['<!-- <a href="/x"> --><a href="/y">', '<!-- <a href="/x"> --><a href="/p/y">'],
  ['<!--><a href="/y">', '<!--><a href="/p/y">'],
  ['<!doctype html><a href="/y">', '<!doctype html><a href="/p/y">'],
  [
    '<script src="/s.js">x = \'<a href="/x">\' </scriptx> </SCRIPT ><a href="/y">',
    '<script src="/p/s.js">x = \'<a href="/x">\' </scriptx> </SCRIPT ><a href="/p/y">',
  ],
  ['<title></title><a href="/y">', '<title></title><a href="/p/y">'],
  ['1 < 2 <3 <> </ <a/href="/y">', '1 < 2 <3 <> </ <a/href="/p/y">'],
  ['<a = href="/y" ==>', '<a = href="/p/y" ==>'],
  ['<a href="/x', '<a href="/x'],
  ['<a href', '<a href'],
  ['<', '<'],
  ['\xc3\xa9<a href="/\xc3\xa9">', '\xc3\xa9<a href="/p/\xc3\xa9">'],
];

for (const [page, seen] of PAGES) {
  test(`the page ${JSON.stringify(page)} is seen outside as ${JSON.stringify(seen)}, however it comes`, (t) => {
    for (let length = 1; length <= page.length; length++) t.is(throughPieces(page, length), seen, `${length}`);
  });
}

test('a tag of any length goes on, and little of a page is kept', (t) => {
  const long = `<a href="/${'x'.repeat(100_000)}">`;
  t.is(throughPieces(`${long}<b>`, 1000), `${long}<b>`);
  const links = new PageLinks(outside);
  const comment = `<!-- ${'x'.repeat(100_000)}`;
  t.true(links.push(comment).length > comment.length - 10);
});
