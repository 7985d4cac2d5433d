// Service accounts as their users meet them: kubectl's tokens and roles, and a program in the cluster that finds its token where
// pods have it.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as k8s from '@kubernetes/client-node';
import test from 'ava';
import { eventually } from '../integration/objects.ts';
import { clusters } from './clusters.ts';

const { inKubernetes } = clusters(test);

/** The library reads where the server is from the environment. */
function inCluster(folder: string, port: number): k8s.KubeConfig {
  process.env.KUBERNETES_SERVICE_HOST = '127.0.0.1';
  process.env.KUBERNETES_SERVICE_PORT = String(port);
  const config = new k8s.KubeConfig();
  config.loadFromCluster(folder);
  return config;
}

const codeOf = (error: unknown): number => (error as { code: number }).code;

inKubernetes(
  'a program in the cluster may do what the roles of its account say, with a token by kubectl',
  async (t, { kubectl, server }) => {
    const namespace = await kubectl.freshNamespace('robots');
    await kubectl.ok([...namespace, 'create', 'serviceaccount', 'robot']);
    const name = namespace[1]!;
    await kubectl.ok([
      ...[...namespace, 'create', 'rolebinding', 'robot', '--clusterrole=view'],
      `--serviceaccount=${name}:robot`,
    ]);
    const token = kubectl.isOlder
      ? JSON.parse(
          await kubectl.ok(
            ['create', '--raw', `/api/v1/namespaces/${name}/serviceaccounts/robot/token`, '-f', '-'],
            JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
          ),
        ).status.token
      : (await kubectl.ok([...namespace, 'create', 'token', 'robot', '--duration=20m'])).trim();
    const authority = [...namespace, 'get', 'configmap', 'kube-root-ca.crt', '-o', 'jsonpath={.data.ca\\.crt}'];
    const { stdout: ca } = await eventually(
      () => kubectl.run(authority),
      ({ code }) => code === 0,
    );
    const folder = mkdtempSync(join(tmpdir(), 'orch-in-cluster-'));
    t.teardown(() => rmSync(folder, { recursive: true }));
    const mounted = join(folder, 'var/run/secrets/kubernetes.io/serviceaccount');
    mkdirSync(mounted, { recursive: true });
    for (const [file, content] of Object.entries({ token, 'ca.crt': ca, namespace: name }))
      writeFileSync(join(mounted, file), content);
    const config = inCluster(folder, server.port);
    const api = config.makeApiClient(k8s.CoreV1Api);
    t.is(config.getContextObject(config.getCurrentContext())?.namespace, name);
    const { items } = await eventually(
      () => api.listNamespacedConfigMap({ namespace: name }).catch(() => ({ items: [] })),
      (list) => list.items.length > 0,
    );
    t.deepEqual(
      items.map(({ metadata }) => metadata?.name),
      ['kube-root-ca.crt'],
    );
    t.is(codeOf(await t.throwsAsync(api.listNamespacedSecret({ namespace: name }))), 403);
    t.is(codeOf(await t.throwsAsync(api.listNamespacedConfigMap({ namespace: 'default' }))), 403);
    await kubectl.ok([...namespace, 'delete', 'serviceaccount', 'robot']);
    t.is(codeOf(await t.throwsAsync(api.listNamespacedConfigMap({ namespace: name }))), 401);
  },
);

inKubernetes(
  'kubectl auth reconcile makes roles and bindings, adds what they lack, and keeps what is there',
  async (t, { kubectl }) => {
    const namespace = await kubectl.freshNamespace('reconciled');
    const manifest = (verbs: string, subject: string): string => `
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: ${namespace[1]}}
rules: [{apiGroups: [""], resources: [pods], verbs: [${verbs}]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: ${namespace[1]}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: ${subject}}]
`;
    const mayJane = async (verb: string): Promise<boolean> =>
      (await kubectl.run([...namespace, 'auth', 'can-i', verb, 'pods', '--as', 'jane'])).stdout.startsWith('yes');
    // Grants count as soon as the thread that decides has heard of them.
    const untilJane = (verb: string, may: boolean): Promise<boolean> =>
      eventually(
        () => mayJane(verb),
        (told) => told === may,
      );
    await kubectl.ok(['auth', 'reconcile', '-f', '-'], manifest('get', 'jane'));
    await untilJane('get', true);
    t.false(await mayJane('list'));
    await kubectl.ok(['auth', 'reconcile', '-f', '-'], manifest('list', 'john'));
    await untilJane('list', true);
    t.true(await mayJane('get'));
    await kubectl.ok(
      ['auth', 'reconcile', '--remove-extra-permissions', '--remove-extra-subjects', '-f', '-'],
      manifest('list', 'jane'),
    );
    await untilJane('get', false);
    t.true(await mayJane('list'));
  },
);

inKubernetes('kubectl shows the token of an account where it always was', async (t, { kubectl }) => {
  const namespace = await kubectl.freshNamespace('shown');
  const secret = await kubectl.ok([
    ...[...namespace, 'wait', 'serviceaccount/default', '--for=jsonpath={.secrets[0].name}', '--timeout=120s'],
    ...['-o', 'jsonpath={.secrets[0].name}'],
  ]);
  t.regex(secret, /^default-token-[a-z0-9]{5}$/);
  const token = Buffer.from(
    await kubectl.ok([...namespace, 'get', 'secret', secret, '-o', 'jsonpath={.data.token}']),
    'base64',
  ).toString();
  const review = JSON.stringify({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token } });
  const answer = await kubectl.ok(
    ['create', '--raw', '/apis/authentication.k8s.io/v1/tokenreviews', '-f', '-'],
    review,
  );
  t.like(JSON.parse(answer).status, {
    authenticated: true,
    user: { username: `system:serviceaccount:${namespace[1]}:default` },
  });
  t.regex(
    await kubectl.ok([...namespace, 'describe', 'secret', secret]),
    /kubernetes\.io\/service-account\.name: default/,
  );
});
