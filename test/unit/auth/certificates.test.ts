// Users by the certificates that they show, and by what a proxy says that shows one.
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { AuthenticatingProxy, ClientCertificates } from '../../../actors/auth/authenticators/certificates.ts';
import type { Credentials } from '../../../actors/auth/protocol.ts';
import type { PeerCertificate } from '../../../transport/http.ts';
import { testAuthority } from '../../server/test-authority.ts';

const HOUR_MS = 3_600_000;
const folder = mkdtempSync(join(tmpdir(), 'certificates-'));
test.after.always(() => rmSync(folder, { recursive: true, force: true }));
const authority = testAuthority(folder, 'people');
const shown = new Map<string, PeerCertificate>();

/** Of a person with that name, as the listener hands it on. */
function certificateOf(commonName: string): PeerCertificate {
  let certificate = shown.get(commonName);
  if (certificate === undefined) {
    const { raw, fingerprint256 } = new X509Certificate(authority.issue(commonName, [], 'clientAuth').certPem);
    certificate = { der: raw, chain: [fingerprint256, new X509Certificate(authority.certPem).fingerprint256] };
    shown.set(commonName, certificate);
  }
  return certificate;
}

function credentials(commonName: string, proxied?: string): Credentials {
  const user = proxied === undefined ? undefined : { name: proxied, groups: [], extra: {} };
  return { authorization: '', peerCertificate: certificateOf(commonName), proxied: user } as unknown as Credentials;
}

test('a certificate is good for as long as it is valid, on a connection that outlives it as well', (t) => {
  const issuedMs = Date.parse(new X509Certificate(certificateOf('jane').der).validFrom);
  const clock = { nowMs: () => issuedMs, monotonicMs: () => 0 };
  const leftMs: number[] = [];
  const people = new ClientCertificates(authority.certPem, clock, (left) => leftMs.push(left));
  const asked = (afterHours: number): unknown => {
    clock.nowMs = () => issuedMs + afterHours * HOUR_MS;
    const found = people.user(credentials('jane'));
    return found !== undefined && 'name' in found ? found.name : found;
  };
  const refused = { error: 'the certificate is not valid now' };
  t.deepEqual([asked(0), asked(23), asked(25), asked(-1), asked(1)], ['jane', 'jane', refused, refused, 'jane']);
  t.deepEqual(
    leftMs.map((left) => left > 0),
    [true, true, false, true, true],
  );
});

test('an authority that is renewed with its key is the one that signed, on connections from before too, and one of its name is not', (t) => {
  // The time that it is: what is made in the test is valid from then on.
  const clock = { nowMs: Date.now, monotonicMs: () => 0 };
  const people = new ClientCertificates(authority.certPem, clock, () => {});
  const refused = { error: 'the certificate is signed by no known authority' };
  const renewed = authority.renewed();
  const namesake = testAuthority(mkdtempSync(join(folder, 'other-')), 'people').certPem;
  t.not(renewed, authority.certPem);
  t.like(people.user(credentials('jane')), { name: 'jane' });
  people.replaceAuthorities(renewed);
  t.like(people.user(credentials('jane')), { name: 'jane' });
  people.replaceAuthorities(namesake);
  t.deepEqual(people.user(credentials('jane')), refused);
  people.replaceAuthorities(namesake + renewed);
  t.like(people.user(credentials('jane')), { name: 'jane' });
  // What no authority of its listener vouched for, as for another use, is looked at no further.
  const unverified = { authorization: '', peerCertificate: { ...certificateOf('jane'), chain: [] } };
  t.deepEqual(people.user(unverified as unknown as Credentials), refused);
});

test('an authority that was renewed and has ended since vouches for nobody', (t) => {
  const clock = { nowMs: () => Date.now() + 72 * HOUR_MS, monotonicMs: () => 0 };
  const people = new ClientCertificates(authority.renewed(), clock, () => {});
  t.deepEqual(people.user(credentials('jane')), { error: 'the certificate is signed by no known authority' });
});

test('of several common names the last is the user', (t) => {
  const people = new ClientCertificates(authority.certPem, { nowMs: Date.now, monotonicMs: () => 0 }, () => {});
  t.like(people.user(credentials('first/CN=last')), { name: 'last' });
});

test('a proxy is one of those that are named, or any that is verified where none is', (t) => {
  const clock = { nowMs: Date.now, monotonicMs: () => 0 };
  const named = new AuthenticatingProxy(authority.certPem, ['front'], clock);
  const any = new AuthenticatingProxy(authority.certPem, [], clock);
  t.like(named.user(credentials('front', 'jane')), { name: 'jane' });
  t.deepEqual(named.user(credentials('jane', 'root')), { error: 'the certificate is that of no known proxy' });
  t.like(any.user(credentials('jane', 'june')), { name: 'june' });
  t.is(any.user(credentials('jane')), undefined);
  t.is(any.user(credentials('jane', '')), undefined, 'a name that is empty is none');
});

test('a proxy is believed for as long as its authority is one of those that vouch, and nobody without a certificate', (t) => {
  const proxy = new AuthenticatingProxy(authority.certPem, [], { nowMs: Date.now, monotonicMs: () => 0 });
  const refused = { error: 'the certificate is signed by no known authority' };
  const { peerCertificate: _shown, ...unshown } = credentials('front', 'jane');
  t.is(proxy.user(unshown), undefined);
  t.like(proxy.user(credentials('front', 'jane')), { name: 'jane' });
  proxy.replaceAuthorities(testAuthority(mkdtempSync(join(folder, 'proxies-')), 'others').certPem);
  t.deepEqual(proxy.user(credentials('front', 'jane')), refused);
});

test('the organizations of a certificate are groups, and without a certificate there is nobody', (t) => {
  const clock = { nowMs: Date.now, monotonicMs: () => 0 };
  const people = new ClientCertificates(authority.certPem, clock, () => {});
  const { raw, fingerprint256 } = new X509Certificate(authority.issue('jane/O=dev/O=ops', [], 'clientAuth').certPem);
  const peerCertificate = { der: raw, chain: [fingerprint256, new X509Certificate(authority.certPem).fingerprint256] };
  t.like(people.user({ ...credentials('jane'), peerCertificate }), {
    name: 'jane',
    groups: ['dev', 'ops', 'system:authenticated'],
  });
  t.is(people.user({ authorization: '' }), undefined);
});

test('who is anonymous to a proxy is not in the group of the authenticated', (t) => {
  const proxy = new AuthenticatingProxy(authority.certPem, [], { nowMs: Date.now, monotonicMs: () => 0 });
  const groupsOf = (name: string, ...groups: readonly string[]): unknown => {
    const proxied = { name, groups, extra: {} };
    const found = proxy.user({
      authorization: '',
      peerCertificate: certificateOf('front'),
      proxied,
    } as unknown as Credentials);
    return found !== undefined && 'groups' in found ? found.groups : found;
  };
  t.deepEqual(groupsOf('jane', 'a'), ['a', 'system:authenticated']);
  t.deepEqual(groupsOf('system:anonymous'), []);
  t.deepEqual(groupsOf('system:anonymous', 'system:unauthenticated'), ['system:unauthenticated']);
  t.deepEqual(groupsOf('jane', 'system:unauthenticated'), ['system:unauthenticated']);
});
