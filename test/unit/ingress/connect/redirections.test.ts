// Where a stream is followed to that a node agent sends elsewhere: by default to its own host and to no other.
import test from 'ava';
import { type Redirections, redirectedTo } from '../../../../actors/ingress/connect/redirections.ts';
import type { AgentTarget } from '../../../../transport/outgoing/agent-address.ts';

const AGENT: AgentTarget = {
  scheme: 'https',
  host: '10.0.0.1',
  port: 10_250,
  trust: 'agent',
  addressProblem: (address) => (address === '169.254.169.254' ? 'the address is link-local' : undefined),
};
const ELSEWHERE = 'it redirects to another host';
const NO_ADDRESS = 'it redirects to what is no address of HTTP';

/** A Location header, and where it leads: the URL, or why it is not followed. */
const LOCATIONS: readonly (readonly [location: string, followed: Redirections, to: string])[] = [
  ['https://10.0.0.1:9000/exec/a?b=c', 'sameHost', 'https://10.0.0.1:9000/exec/a?b=c'],
  ['http://10.0.0.1/exec', 'sameHost', 'http://10.0.0.1:80/exec'],
  ['https://10.0.0.1/exec', 'sameHost', 'https://10.0.0.1:443/exec'],
  ['/other?x', 'sameHost', 'https://10.0.0.1:10250/other?x'],
  ['next', 'sameHost', 'https://10.0.0.1:10250/run/next'],
  ['//10.0.0.1:1/a', 'sameHost', 'https://10.0.0.1:1/a'],
  ['https://10.0.0.2:9000/exec', 'sameHost', ELSEWHERE],
  ['//10.0.0.2/exec', 'sameHost', ELSEWHERE],
  ['https://10.0.0.1.example.com/', 'sameHost', ELSEWHERE],
  ['https://10.0.0.1@example.com/', 'sameHost', ELSEWHERE],
  ['https://10.0.0.2:9000/exec', 'any', 'https://10.0.0.2:9000/exec'],
  ['https://169.254.169.254/a', 'sameHost', ELSEWHERE],
  ['https://169.254.169.254/a', 'any', 'it redirects to where the server does not go: the address is link-local'],
  ['http://2852039166/a', 'any', 'it redirects to where the server does not go: the address is link-local'],
  ['ftp://10.0.0.1/', 'any', NO_ADDRESS],
  ['file:///etc/passwd', 'any', NO_ADDRESS],
  ['https://[', 'any', NO_ADDRESS],
  ['', 'any', 'it redirects without a Location header'],
];

test('a redirection is followed to where it leads on the host that was asked, and to no other unless any will do', (t) => {
  const at = { target: AGENT, path: '/run/first' };
  for (const [location, followed, expected] of LOCATIONS) {
    const to = redirectedTo([['location', location]], at, AGENT, followed);
    const shown = typeof to === 'string' ? to : `${to.target.scheme}://${to.target.host}:${to.target.port}${to.path}`;
    t.is(shown, expected, `${location} (${followed})`);
    if (typeof to !== 'string') t.is(to.target.trust, 'agent', 'what is shown there is the same');
  }
  t.is(redirectedTo([], at, AGENT, 'any'), 'it redirects without a Location header');
});

test('the host is that which was asked first, whoever redirects, and is the same however it is written', (t) => {
  const six: AgentTarget = { ...AGENT, host: 'fd00::1' };
  const at = { target: { ...six, port: 1 }, path: '/' };
  t.like(redirectedTo([['Location', 'https://[FD00:0::1]:2/a']], at, six, 'sameHost'), {
    target: { host: 'fd00::1', port: 2 },
    path: '/a',
  });
  const elsewhere = { target: { ...AGENT, host: '10.0.0.9' }, path: '/' };
  t.is(redirectedTo([['location', '/next']], elsewhere, AGENT, 'sameHost'), ELSEWHERE);
});
