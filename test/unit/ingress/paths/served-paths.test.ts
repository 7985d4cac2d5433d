// Which methods are served where: across all namespaces there is only reading.
import test from 'ava';
import { refusalOfPath } from '../../../../actors/ingress/paths/served-paths.ts';
import { parseQuery } from '../../../../api/requests/query.ts';
import { parseRequestInfo } from '../../../../api/requests/request-info.ts';
import { createRegistry } from '../../../../api/resources/registry.ts';
import type { KnownType } from '../../../../api/resources/resource-table.ts';
import { DIALECTS } from '../../../../config/dialect.ts';

const BUILT_IN = createRegistry(DIALECTS.kubernetes).byPath('apps', 'v1', 'deployments')!;
const CUSTOM = { ...BUILT_IN, custom: {} } as unknown as KnownType;

function codeOf(type: KnownType, method: string, place: string): number {
  const info = parseRequestInfo(method, `/apis/apps/v1/${place}`, parseQuery(''));
  if (!info.isResource) throw new Error(`${place} is no path of a type`);
  return refusalOfPath(type, info, method)?.code ?? 200;
}

test('whoever writes a custom object without its namespace is told that there is no such path, as in Kubernetes', (t) => {
  for (const [method, place, builtIn, custom] of [
    ['GET', 'deployments', 200, 200],
    ['POST', 'deployments', 405, 404],
    ['PUT', 'deployments', 405, 404],
    ['PATCH', 'deployments', 405, 404],
    ['DELETE', 'deployments', 405, 404],
    ['PUT', 'deployments/one', 404, 404],
    ['PUT', 'deployments/one/status', 404, 404],
    ['PUT', 'namespaces/default/deployments', 405, 405],
    ['POST', 'namespaces/default/deployments', 200, 200],
    ['DELETE', 'namespaces/default/deployments', 200, 200],
  ] as const) {
    t.is(codeOf(BUILT_IN, method, place), builtIn, `${method} ${place}`);
    t.is(codeOf(CUSTOM, method, place), custom, `${method} ${place} of a custom type`);
  }
});
