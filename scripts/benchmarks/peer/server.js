'use strict'
// The chat server that one would write with Node, `ws` and `pg` in an afternoon: what scripts/bench compares with.
//
// It speaks the part of our interface that the load needs, with the same frames and bodies, so that one client
// drives both. It does honest work: tokens are verified, a message is acknowledged after its INSERT has committed,
// reads come from the database, a message is encoded once and given to `ws` once a subscriber. It does less
// than ours: no permissions or membership, no limits, no unread counts, no edits, no snapshots, no replays.
//
// Environment: PORT, TOKEN_SECRET (HS256), and PostgreSQL's own PGHOST, PGPORT, PGUSER, PGDATABASE.
const crypto = require('crypto')
const http = require('http')
const { Pool } = require('pg')
const { WebSocketServer } = require('ws')

const pool = new Pool({ max: 20 })
const query = (name, text, values) => pool.query({ name, text, values }) // prepared once a connection
const subscribers = new Map() // {channel: {offset, sockets}}

const SCHEMA = `
create table account(id uuid primary key, name text not null, created timestamptz not null default now());
create table conversation(id text primary key, members uuid[] not null);
create table message(id text primary key, conversation text not null, sender uuid not null, sender_name text not null,
  content text not null, created timestamptz not null);
create index on message(conversation, created desc);`

function verified (token) {
  const [head, body, signature] = token.split('.')
  const wanted = crypto.createHmac('sha256', process.env.TOKEN_SECRET).update(head + '.' + body).digest()
  const given = Buffer.from(signature, 'base64url')
  if (wanted.length !== given.length || !crypto.timingSafeEqual(wanted, given)) throw new Error('bad signature')
  const claims = JSON.parse(Buffer.from(body, 'base64url'))
  if (claims.exp * 1000 < Date.now()) throw new Error('expired')
  return { id: claims.sub, name: claims.name }
}

const bearer = request => verified((request.headers.authorization || '').slice('Bearer '.length))
const newId = () => crypto.randomBytes(12).toString('hex')

const shown = row => ({
  id: row.id, conversationId: row.conversation, senderId: row.sender, senderName: row.sender_name,
  content: row.content, mentions: [], attachments: [], poll: null, createdAt: row.created.toISOString(),
  createdAtMs: +row.created, source: 'live', revision: 1, clientMessageId: null, editedAt: null, deletedAt: null
})

async function post (user, conversation, content) {
  const row = { id: newId(), conversation, sender: user.id, sender_name: user.name, content, created: new Date() }
  await query('post', 'insert into message values($1,$2,$3,$4,$5,$6)',
    [row.id, row.conversation, row.sender, row.sender_name, row.content, row.created])
  return shown(row)
}

function publish (conversation, message) {
  const channel = 'conversation:' + conversation
  const room = subscribers.get(channel)
  if (!room) return
  const event = { type: 'event', channel, epoch: '1', offset: ++room.offset, event: 'message_created', data: message }
  const encoded = Buffer.from(JSON.stringify(event))
  for (const socket of room.sockets) socket.send(encoded, { binary: false })
}

async function answer (request, body) {
  const url = new URL(request.url, 'http://localhost')
  if (url.pathname === '/health' || url.pathname === '/ready') return [200, { status: 'ok' }]
  const user = bearer(request)
  if (url.pathname === '/v1/profile/self') {
    const found = await query('self', 'select id, name, created from account where id = $1', [user.id])
    if (found.rows.length) return [200, found.rows[0]]
    await query('know', 'insert into account(id, name) values($1, $2) on conflict do nothing', [user.id, user.name])
    return [200, { id: user.id, name: user.name }]
  }
  if (url.pathname === '/v1/social/chat/conversations') {
    const id = newId()
    const members = [user.id, ...JSON.parse(body).participantIds]
    await query('open', 'insert into conversation values($1, $2)', [id, members])
    return [201, { id, members }]
  }
  const named = url.pathname.match(/^\/v1\/social\/chat\/conversations\/([^/]+)\/messages$/)
  if (named && request.method === 'POST') {
    const message = await post(user, named[1], JSON.parse(body).content)
    publish(named[1], message)
    return [201, message]
  }
  if (named) {
    const found = await query('list', 'select * from message where conversation = $1 order by created desc limit $2',
      [named[1], Math.min(100, +url.searchParams.get('limit') || 50)])
    return [200, { items: found.rows.map(shown), nextCursor: null, hasMore: false }]
  }
  return [404, { code: 'NOT_FOUND' }]
}

async function command (socket, user, joined, { id, op, channel, data }) {
  const reply = fields => socket.send(JSON.stringify({ type: 'reply', id, ...fields }))
  if (op === 'subscribe') {
    if (!subscribers.has(channel)) subscribers.set(channel, { offset: 0, sockets: new Set() })
    const room = subscribers.get(channel)
    room.sockets.add(socket)
    joined.add(channel)
    return reply({ ok: true, channel, epoch: '1', offset: room.offset, recovered: false })
  }
  if (op !== 'send' || !joined.has(channel)) return reply({ ok: false, error: { code: 'REFUSED', message: op } })
  const conversation = channel.slice('conversation:'.length)
  const message = await post(user, conversation, data.content)
  reply({ ok: true, data: message })
  publish(conversation, message)
}

const server = http.createServer((request, response) => {
  const parts = []
  request.on('data', part => parts.push(part)).on('end', () => {
    answer(request, Buffer.concat(parts)).catch(error => [500, { code: String(error) }]).then(([status, value]) => {
      const body = JSON.stringify(value)
      response.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) })
      response.end(body)
    })
  })
})

const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
server.on('upgrade', (request, socket, head) => {
  let user
  try { user = bearer(request) } catch { return socket.end('HTTP/1.1 401 Unauthorized\r\ncontent-length: 0\r\n\r\n') }
  sockets.handleUpgrade(request, socket, head, opened => {
    const joined = new Set()
    opened.on('message', text => command(opened, user, joined, JSON.parse(text)).catch(() => opened.close(1011)))
    opened.on('close', () => { for (const channel of joined) subscribers.get(channel).sockets.delete(opened) })
  })
})
server.keepAliveTimeout = 120000
pool.query(SCHEMA).then(() => server.listen(+process.env.PORT, '127.0.0.1', 4096))
