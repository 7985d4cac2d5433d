// How what belongs to one of several servers is named: `1:ingress/0` is of server `1`. Alone, a server has no name.

/** Which server something is of, by its name: `1` of `1:ingress/0`, and the empty name of `ingress/0`. */
export function serverOf(name: string): string {
  const at = name.indexOf(':');
  return at < 0 ? '' : name.slice(0, at);
}
