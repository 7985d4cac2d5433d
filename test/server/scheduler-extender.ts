// A scheduler's extender as an operator runs one: a server that does what the test says for each verb, and writes down what it is
// asked. Plain, or over TLS with a certificate that is given. Nothing here is part of a server.
import { once } from 'node:events';
import { createServer as createPlainServer, type RequestListener, type ServerResponse } from 'node:http';
import { createServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { jsonOf, sendJson } from './credentials.ts';
import type { Scope } from './server-process.ts';

type Members = Readonly<Record<string, unknown>>;

interface NamedObject {
  readonly metadata: { readonly name: string; readonly uid: string };
}

/** What an extender is sent about nodes, victims or a binding: the members that the verb has. */
export interface ExtenderQuestion {
  readonly Pod: NamedObject;
  readonly Nodes: { readonly items: readonly NamedObject[] } | null;
  readonly NodeNames: readonly string[] | null;
  readonly NodeNameToVictims: Readonly<Record<string, { readonly Pods: readonly NamedObject[] }>> | null;
  readonly NodeNameToMetaVictims: Readonly<Record<string, { readonly Pods: readonly Members[] }>> | null;
  readonly PodName: string;
  readonly PodNamespace: string;
  readonly PodUID: string;
  readonly Node: string;
}

/** What it returns is the answer; undefined: it has answered itself, or never will. */
export type ExtenderVerb = (
  question: ExtenderQuestion,
  response: ServerResponse,
) => object | undefined | Promise<object | undefined>;

export interface ExtenderService {
  readonly url: string;
  readonly asked: { readonly verb: string; readonly question: ExtenderQuestion }[];
}

/** Runs until the scope ends. */
export async function extenderService(
  scope: Scope,
  verbs: Readonly<Record<string, ExtenderVerb>>,
  tls?: ServerOptions,
): Promise<ExtenderService> {
  const asked: ExtenderService['asked'][number][] = [];
  const listener: RequestListener = (request, response) => {
    const verb = (request.url ?? '').split('/').at(-1)!;
    const answer = async (): Promise<void> => {
      const question = await jsonOf<ExtenderQuestion>(request);
      asked.push({ verb, question });
      const result = await verbs[verb]?.(question, response);
      if (result !== undefined) sendJson(response, result);
    };
    answer().catch(() => response.destroy());
  };
  const server = tls === undefined ? createPlainServer(listener) : createServer(tls, listener);
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.teardown(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${port}/extend`, asked };
}

/** Keeps the nodes that are named, and says of the others why not. */
export function keeping(...names: readonly string[]): ExtenderVerb {
  return ({ Nodes, NodeNames }) => {
    const all = NodeNames ?? Nodes!.items.map(({ metadata }) => metadata.name);
    const refused = all.filter((name) => !names.includes(name));
    return {
      ...(NodeNames === null
        ? { Nodes: { items: Nodes!.items.filter(({ metadata }) => names.includes(metadata.name)) } }
        : { NodeNames: all.filter((name) => names.includes(name)) }),
      FailedNodes: Object.fromEntries(refused.map((name) => [name, 'has no licence'])),
    };
  };
}
