// Makes a Node program listen on the loopback interface, at the port that the
// environment names, whatever it was written to do.
const net = require('net')
const listen = net.Server.prototype.listen
net.Server.prototype.listen = function (...args) {
  const callbacks = args.filter((arg) => typeof arg === 'function')
  return listen.call(this, { host: '127.0.0.1', port: Number(process.env.LISTEN) }, ...callbacks)
}
