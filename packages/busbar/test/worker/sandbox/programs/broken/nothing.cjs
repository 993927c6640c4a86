exports.helper = () => {}
