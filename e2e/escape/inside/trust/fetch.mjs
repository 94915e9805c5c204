const reply = await fetch(process.argv[2], { headers: { 'x-key': process.env.API_KEY } })
console.log(await reply.text())
